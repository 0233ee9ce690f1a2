/** Exactly one thing wrong with an input that was right. */
import { Spelled, encode } from "./marks.ts";
import { type Document, type Schema, solid } from "./openapi.ts";

export type Path = readonly (string | number)[];

/** What is to come of it. `schema`: whatever the document's schema says of the value that it has become. */
export type Expected = "schema" | "not-json" | "too-large";

export interface Mutated {
  readonly kind: string;
  /** Where the one thing is. */
  readonly path: Path;
  readonly input: unknown;
  readonly expected: Expected;
}

/** A place of an input, with what the document says of it. */
interface Site {
  readonly path: Path;
  readonly schema: Schema;
  readonly value: unknown;
  readonly required: boolean;
}

/** What a site becomes, or null where the kind does not go with it. */
interface Change {
  readonly value: unknown;
  /** Below the site, when it is not the site itself. */
  readonly at?: string | number;
  readonly expected?: Expected;
}
type Kind = (site: Site, dice: number) => Change | null;

const GONE = Symbol("gone");
const HUGE = `"${"a".repeat(10 * 1_048_576)}"`;
const DEEP = 10_000;
const DEEP_LISTS = new Spelled("[".repeat(DEEP) + "]".repeat(DEEP), { value: [[[[[]]]]] });
const DEEP_OBJECTS = new Spelled(`${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`, {
  value: { a: { a: { a: 1 } } },
});

const become = (value: unknown): Change => ({ value });
const spelled = (text: string, like: unknown): Change => become(new Spelled(text, { value: like }));
const noJson = (text: string): Change => ({
  value: new Spelled(text, null),
  expected: "not-json",
});
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const typed =
  (
    type: Schema["type"],
    change: (schema: Schema, site: Site, dice: number) => Change | null,
  ): Kind =>
  (site, dice) =>
    site.schema.type === type ? change(site.schema, site, dice) : null;
const numeric =
  (change: (schema: Schema, site: Site) => Change | null): Kind =>
  (site) =>
    site.schema.type === "integer" || site.schema.type === "number"
      ? change(site.schema, site)
      : null;

const TYPES = ["text", 1, true, [], {}, [[]], { a: 1 }, 0.5, "", "null"] as const;
const STRANGERS = [
  "cuont",
  "constructor",
  "toString",
  "then",
  "hasOwnProperty",
  "тenantId",
  "",
  " ",
];

const widened = (value: readonly unknown[], length: number): unknown[] =>
  Array.from({ length }, (_, at) => value[at % Math.max(1, value.length)] ?? null);

/** One character among the others. */
const inserted =
  (text: string): Kind =>
  ({ value }, dice) => {
    if (typeof value !== "string" || value.startsWith("‹")) return null;
    const at = dice % (value.length + 1);
    return become(value.slice(0, at) + text + value.slice(at));
  };

export const KINDS: Readonly<Record<string, Kind>> = {
  "another type": (_site, dice) => become(TYPES[dice % TYPES.length]),
  null: () => become(null),
  missing: ({ required, path }) => (required && path.length > 0 ? become(GONE) : null),
  "a field more": ({ value }, dice) => {
    if (!isRecord(value)) return null;
    const name = STRANGERS[dice % STRANGERS.length] ?? "x";
    return Object.hasOwn(value, name) ? null : { value: { ...value, [name]: 1 }, at: name };
  },
  "a name that reaches a prototype": ({ value }) =>
    isRecord(value)
      ? noJson(`{"__proto__":{"a":1},${encode(value).slice(1)}`.replace(",}", "}"))
      : null,
  "under its minimum": numeric(({ minimum }) =>
    minimum === undefined ? null : become(minimum - 1),
  ),
  "over its maximum": numeric(({ maximum }) =>
    maximum === undefined ? null : become(maximum + 1),
  ),
  "a fraction": numeric((_schema, { value }) => become(Number(value) + 0.5)),
  "an integer with a point": numeric((_schema, { value }) => spelled(`${String(value)}.0`, value)),
  "1e308": numeric(() => become(1e308)),
  "1e400": numeric(() => noJson("1e400")),
  "minus zero": numeric(() => spelled("-0", 0)),
  "two to the 53rd": numeric(() => become(2 ** 53)),
  "not a number": numeric(() => noJson("NaN")),
  "a number as text": numeric((_schema, { value }) => become(String(value))),
  "an empty text": typed("string", () => become("")),
  "a character too many": typed("string", ({ maxLength = 0 }, _site, dice) =>
    become((["a", "é", "😀"][dice % 3] ?? "a").repeat(maxLength + 1)),
  ),
  "a character too few": typed("string", ({ minLength = 0 }) =>
    minLength === 0 ? null : become("a".repeat(minLength - 1)),
  ),
  "a lone surrogate": inserted("\ud83d"),
  "U+0000": inserted("\u0000"),
  "a line break": inserted("\n"),
  "right to left": inserted("\u202eא"),
  "a combining mark": inserted("u\u0308"),
  "a space": inserted(" "),
  // Dear to send, as what is deep: one draw of the kind in forty.
  "10 MB": typed("string", (_schema, _site, dice) =>
    dice === 0 ? { value: new Spelled(HUGE, { value: "a" }), expected: "too-large" } : null,
  ),
  "a choice there is not": ({ schema: { enum: choices } }, dice) =>
    choices
      ? become([choices[0]?.toUpperCase(), `${choices[0]} `, "", "none of them"][dice % 4])
      : null,
  "an entry too many": ({ schema, value }) =>
    schema.type === "array" && Array.isArray(value)
      ? become(widened(value, (schema.maxItems ?? 0) + 1))
      : null,
  "an entry too few": ({ schema }) =>
    schema.type === "array" && schema.minItems ? become([]) : null,
  "an entry of another type": ({ schema, value }, dice) =>
    schema.type === "array" && Array.isArray(value)
      ? { value: [...value, TYPES[dice % TYPES.length]].slice(-(schema.maxItems ?? 1)) }
      : null,
  "a key too many": ({ schema, value }) =>
    schema.maxProperties === undefined || !isRecord(value)
      ? null
      : become(keyed(schema.maxProperties + 1, Object.values(value)[0] ?? 1)),
  "a key that is none": ({ schema, value }, dice) => {
    if (schema.propertyNames === undefined || !isRecord(value)) return null;
    const key = ["", "\u0000", "a\nb", "k".repeat(300)][dice % 4] ?? "";
    return { value: { ...value, [key]: Object.values(value)[0] ?? 1 } };
  },
  "10,000 deep": (_site, dice) =>
    dice < 4 ? become(dice % 2 === 0 ? DEEP_LISTS : DEEP_OBJECTS) : null,
  "a name given twice": ({ value, path }) => {
    if (!isRecord(value) || path.length === 0) return null;
    const [name] = Object.keys(value);
    if (name === undefined) return null;
    return noJson(`{${JSON.stringify(name)}:0,${encode(value).slice(1)}`);
  },
};
const NAMES = Object.keys(KINDS);
/** A prime with room for all kinds: every stride comes by each. */
const RING = 41;

function keyed(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
}

export interface Draw {
  /** Which kind, which place, and what of it. */
  readonly kind: number;
  readonly place: number;
  readonly dice: number;
}

/** The drawn kind at a drawn place, or the next kind that goes with any place of this input. */
export function mutate(
  document: Document,
  { schema, input }: { schema: Schema; input: unknown },
  draw: Draw,
): Mutated {
  const sites = sitesOf(document, { path: [], schema, value: input, required: true });
  for (let tries = 0; tries < RING; tries += 1) {
    // A stride, so that no kind is the heir of one that goes with little.
    const kind = NAMES[(draw.kind + tries * (1 + (draw.dice % 7))) % RING] ?? "";
    for (let step = 0; step < sites.length; step += 1) {
      const site = sites[(draw.place + step) % sites.length];
      const change = site && KINDS[kind]?.(site, draw.dice);
      if (!site || !change) continue;
      const { value, at, expected = "schema" } = change;
      const path = at === undefined ? site.path : [...site.path, at];
      return { kind, path, expected, input: replaced(input, site.path, value) };
    }
  }
  throw new Error("no mutation goes with this input");
}

function sitesOf(document: Document, { path, schema: raw, value, required }: Site): Site[] {
  const schema = branch(document, solid<Schema>(document, raw), value);
  const here: Site = { path, schema, value, required };
  const inside = (step: string | number, part: Schema, needed: boolean): Site[] => {
    const below = (value as Record<string | number, unknown>)[step];
    return sitesOf(document, {
      path: [...path, step],
      schema: part,
      value: below,
      required: needed,
    });
  };
  if (Array.isArray(value))
    return [here, ...value.flatMap((_, at) => inside(at, schema.items ?? {}, false))];
  if (!isRecord(value)) return [here];
  const entry = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
  return [
    here,
    ...Object.keys(value).flatMap((name) =>
      inside(name, schema.properties?.[name] ?? entry, schema.required?.includes(name) ?? false),
    ),
  ];
}

/** Of several that the document allows, the one that this value is. */
function branch(document: Document, schema: Schema, value: unknown): Schema {
  if (!schema.anyOf) return schema;
  const kind = value === null ? "null" : typeof value === "number" ? "integer" : typeof value;
  const parts = schema.anyOf.map((part) => solid<Schema>(document, part));
  return parts.find(({ type }) => type === kind) ?? parts[0] ?? {};
}

function replaced(whole: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(whole))
    return whole.map((part, at) => (at === step ? replaced(part, rest, value) : (part as unknown)));
  const fields = Object.entries(whole as Record<string, unknown>).flatMap(([name, part]) => {
    if (name !== step) return [[name, part]];
    const next = replaced(part, rest, value);
    return next === GONE ? [] : [[name, next]];
  });
  return Object.fromEntries(fields) as unknown;
}
