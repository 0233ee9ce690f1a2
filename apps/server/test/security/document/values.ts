/** Inputs that the document allows, most of them about things that exist and at times that are near. */
import fc from "fast-check";
import type { MethodName } from "@berth/contract";
import { NOW, live } from "./marks.ts";
import { coherent } from "./coherent.ts";
import { type Document, type Schema, solid } from "./openapi.ts";

const HOUR = 3_600_000;
const TIME_MAX = 2 ** 47;
const TENANT = "^[A-Za-z0-9._:-]{1,128}$";

type Value = fc.Arbitrary<unknown>;
interface Weighted {
  readonly weight: number;
  readonly arbitrary: Value;
}
const often = (weight: number, arbitrary: Value): Weighted => ({ weight, arbitrary });
const nth = fc.nat(11);
const hours = (from: number, to: number): Value =>
  fc.integer({ min: from * 60, max: to * 60 }).map((minute) => NOW + minute * 60_000);

/** What a field of that name had better be for the call to do something; the schema alone would allow more. */
const LIKELY: Readonly<Record<string, Value>> = {
  start: hours(0, 72),
  from: hours(0, 24),
  to: hours(25, 96),
  end: hours(4, 200),
  expiresAt: hours(500, 9_000),
  startsAt: hours(1, 72).map((at) => new Date(at as number).toISOString()),
  endsAt: hours(80, 400).map((at) => new Date(at as number).toISOString().replace("Z", "+00:00")),
  duration: fc.oneof(
    fc.constantFrom("1h", "90m", "2h30m", "PT90M", "P1D", "P1DT12H", 3_600_000, 86_400_000),
    fc.integer({ min: HOUR, max: 72 * HOUR }),
  ),
  maxDuration: fc.constantFrom("7d", "P30D", 366 * 24 * HOUR),
  horizon: fc.constantFrom("30d", "P52W"),
  count: fc.constantFrom(1, 1, 2, 3, 8),
  size: fc.constantFrom(2, 2, 3),
  timeoutMs: fc.constant(0),
  topologyKey: fc.constantFrom("rack", ""),
  vfs: fc.nat(3),
  index: fc.nat(15),
  version: fc.integer({ min: 1, max: 3 }),
  model: fc.constantFrom("H100", "H100", "A100"),
  memoryGiB: fc.nat(64),
  vcpu: fc.nat(16),
  hugepages1Gi: fc.nat(2),
  role: fc.constantFrom("tenant-viewer", "tenant-operator", "tenant-admin"),
  projectId: fc.nat(3).map((n) => `prj_${String(n).padStart(26, "0")}`),
};
/** Waits end by the clock, which stands still here; and of virtual functions there are enough. */
const ONLY_LIKELY: ReadonlySet<string> = new Set(["timeoutMs", "vfs"]);

/** Letters that keep their form whatever stands beside them, with the ones that trouble queries and terminals. */
const LETTERS = [
  ...Array.from("aZ09 ._-/'\"\\;$1%`<>&{}[]()*?#@!|~^=+,:"),
  "--",
  "é",
  "機",
  "😀",
  "א",
  "\u202e",
  "\u200d",
  "\u00a0",
  "\ufeff",
];

export interface Values {
  /** A whole input of the method. */
  inputOf(method: MethodName, input: Schema): Value;
}

export function createValues(document: Document): Values {
  const made = new Map<Schema, Map<string, Value>>();

  const valueOf = (raw: Schema, name: string): Value => {
    const byName = made.get(raw) ?? new Map<string, Value>();
    made.set(raw, byName);
    const before = byName.get(name);
    if (before) return before;
    const arbitrary = named(solid<Schema>(document, raw), name);
    byName.set(name, arbitrary);
    return arbitrary;
  };

  const named = (schema: Schema, name: string): Value => {
    const likely = LIKELY[name];
    const any = bySchema(schema, name);
    if (!likely || isObject(schema)) return any;
    if (ONLY_LIKELY.has(name)) return likely;
    const [only] = schema.type === "array" ? [likely.map((entry) => [entry])] : [likely];
    return fc.oneof(often(9, only), often(1, any));
  };

  const bySchema = (schema: Schema, name: string): Value => {
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((part) => valueOf(part, name)));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "integer":
      case "number":
        return numbers(schema);
      case "string":
        return strings(schema, name);
      case "array":
        return lists(schema, name);
      case "object":
        return schema.properties ? records(schema) : maps(schema, name);
      case undefined:
    }
    throw new Error(`${name} has no type: what may be sent is not said`);
  };

  const records = ({ properties = {}, required = [] }: Schema): Value => {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const value = valueOf(schema, name).map((given) => [[name, given]] as const);
      return required.includes(name) ? value : fc.oneof(often(2, fc.constant([])), often(1, value));
    });
    return fc
      .tuple(...fields)
      .map((entries) => Object.fromEntries(entries.flat() as [string, unknown][]));
  };

  const maps = (schema: Schema, name: string): Value => {
    const { additionalProperties: entry, propertyNames: key, maxProperties = 3 } = schema;
    if (typeof entry !== "object") return fc.constant({});
    const keys = key ? strings({ type: "string", ...key }, name) : strings({}, name);
    const common = fc.constantFrom("gpu", "vcpu", "rack", "H100");
    const pair = fc.tuple(fc.oneof(common, keys as fc.Arbitrary<string>), valueOf(entry, ""));
    return fc
      .array(pair, { maxLength: Math.min(3, maxProperties) })
      .map((pairs) => Object.fromEntries(pairs) as unknown);
  };

  const lists = ({ items = {}, minItems = 0, maxItems = 3, uniqueItems }: Schema, name: string) => {
    const entry = valueOf(items, name);
    const few = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) };
    if (uniqueItems) return fc.uniqueArray(entry, { ...few, comparator: "SameValue" });
    if (maxItems > 64 || isObject(solid<Schema>(document, items))) return fc.array(entry, few);
    const many = fc.array(entry, { minLength: maxItems, maxLength: maxItems });
    return fc.oneof(often(30, fc.array(entry, few)), often(1, many));
  };

  return {
    inputOf: (method, input) =>
      fc.tuple(records(input), fc.nat(9)).map(([value, dice]) =>
        // One in ten stays as the document alone would have it.
        dice === 0 ? value : coherent(method, value as Record<string, unknown>),
      ),
  };
}

const isObject = ({ type, anyOf }: Schema): boolean => type === "object" || anyOf !== undefined;

function numbers({ minimum = -(2 ** 53) + 1, maximum = 2 ** 53 - 1 }: Schema): Value {
  const within = (value: number): number => Math.min(maximum, Math.max(minimum, value));
  const edges = [minimum, maximum, within(minimum + 1), within(maximum - 1), within(0), within(1)];
  // Times and versions: nothing in the middle of them says anything.
  const wide = maximum >= TIME_MAX;
  return fc.oneof(
    often(wide ? 5 : 2, fc.constantFrom(...edges)),
    often(wide ? 1 : 3, fc.integer({ min: minimum, max: maximum })),
  );
}

function strings(schema: Schema, name: string): Value {
  const { pattern = "", minLength = 0, maxLength = 64 } = schema;
  if (pattern === TENANT && name !== "idempotencyKey")
    return fc.oneof(
      often(
        12,
        nth.map((n) => live("tenant", n)),
      ),
      often(1, fc.stringMatching(new RegExp(pattern))),
    );
  const prefix = /^\^([a-z]+)_\[0-9a-hjkmnp-tv-z\]/.exec(pattern)?.[1];
  if (prefix !== undefined)
    return fc.oneof(
      often(
        12,
        nth.map((n) => live(prefix, n)),
      ),
      often(
        1,
        fc.nat(99).map((n) => `${prefix}_${String(n).padStart(26, "0")}`),
      ),
      often(1, fc.stringMatching(new RegExp(pattern))),
    );
  if (pattern.startsWith("^[A-Za-z0-9_-]{1,512}")) return nth.map((n) => live("cursor", n));
  if (pattern === "" || pattern.includes("\\u0000")) return texts(minLength, maxLength);
  return fromPattern(pattern);
}

/** Patterns with a look ahead, which nothing makes texts from: made from what it looks ahead at. */
function fromPattern(pattern: string): Value {
  const whole = new RegExp(pattern);
  if (!pattern.includes("(?=")) return fc.stringMatching(whole);
  const simpler = new RegExp(pattern.replaceAll(/\(\?=(?:[^()]|\\.)*\)/g, ""));
  return fc.stringMatching(simpler).filter((text) => whole.test(text) && text.length <= 64);
}

/** Characters are what people count: one of two code units is one. */
function texts(min: number, max: number): Value {
  const letter = fc.constantFrom(...LETTERS);
  const cut = (letters: readonly string[]): string =>
    Array.from(letters.join("")).slice(0, max).join("");
  return fc.oneof(
    often(8, fc.array(letter, { minLength: min, maxLength: Math.min(max, 12) }).map(cut)),
    often(
      1,
      letter.map((one) => cut(Array<string>(max).fill(one))),
    ),
  );
}
