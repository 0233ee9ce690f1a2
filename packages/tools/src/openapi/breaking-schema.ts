/**
 * What a change of a schema breaks. Of what callers send: everything that was taken and is not any more. Of what
 * they are answered: everything that they could count on and cannot any more; more fields and more values of an
 * enum are no break, for callers are told to pass over what they do not know.
 */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly uniqueItems?: boolean;
  readonly [bound: string]: unknown;
}

export interface Break {
  /** `POST /api/…: the request's devices[].count`. */
  readonly at: string;
  readonly what: string;
}

/** Looks up what a reference stands for. */
export type Lookup = (ref: string) => Schema;
type Direction = "input" | "output";

export interface Compared {
  readonly before: Schema;
  readonly after: Schema;
}

export interface Context {
  readonly before: Lookup;
  readonly after: Lookup;
  readonly direction: Direction;
}

const LOWER = ["minimum", "minLength", "minItems", "minProperties"];
const UPPER = ["maximum", "maxLength", "maxItems", "maxProperties"];

export function schemaBreaks(pair: Compared, at: string, context: Context): Break[] {
  return walk(pair, at, { ...context, seen: new Set() });
}

interface Walk extends Context {
  /** Pairs of types that are being compared further up, or were. */
  readonly seen: Set<string>;
}

function walk({ before, after }: Compared, at: string, context: Walk): Break[] {
  if (before.$ref !== undefined && after.$ref !== undefined) {
    const pair = `${before.$ref} ${after.$ref}`;
    if (context.seen.has(pair)) return [];
    context.seen.add(pair);
  }
  const [was, is] = [branches(before, context.before), branches(after, context.after)];
  // What was taken must be taken; what is answered must be what was.
  const [from, to] = context.direction === "input" ? [was, is] : [is, was];
  return from.flatMap((branch) => {
    const same = to.filter((each) => kindOf(each) === kindOf(branch));
    if (same.length === 0) return [{ at, what: changedType(branch, context.direction) }];
    const tries = same.map((each) =>
      context.direction === "input"
        ? shapeBreaks({ before: branch, after: each }, at, context)
        : shapeBreaks({ before: each, after: branch }, at, context),
    );
    return tries.find((found) => found.length === 0) ?? tries[0] ?? [];
  });
}

const changedType = (branch: Schema, direction: Direction) =>
  direction === "input"
    ? `${kindOf(branch)} is not taken any more`
    : `may be ${kindOf(branch)} now`;

/** The alternatives of a schema, behind their references. */
function branches(schema: Schema, lookup: Lookup): Schema[] {
  if (schema.$ref !== undefined) return branches(lookup(schema.$ref), lookup);
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return parts.flatMap((part) => branches(part, lookup));
  const { type } = schema;
  return typeof type === "object" ? type.map((each) => ({ ...schema, type: each })) : [schema];
}

function kindOf({ type, enum: values, const: value }: Schema): string {
  if (typeof type === "string") return type;
  const one = values?.[0] ?? value;
  return one === undefined ? "anything" : typeof one;
}

function shapeBreaks(pair: Compared, at: string, context: Walk): Break[] {
  return [
    ...valueBreaks(pair, context.direction).map((what) => ({ at, what })),
    ...fieldBreaks(pair, at, context),
    ...partBreaks(pair, at, context),
  ];
}

function valueBreaks({ before, after }: Compared, direction: Direction): string[] {
  // What is answered may come to have more values, and who reads it has no limits of its own.
  if (direction === "output") return [];
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const gone = (was ?? []).filter((value) => is !== null && !is.includes(value));
  const bounds = (names: readonly string[], tighter: (is: number, was: number) => boolean) =>
    names.flatMap((name) => {
      const bound = after[name] as number | undefined;
      const old = before[name] as number | undefined;
      if (bound === undefined || (old !== undefined && !tighter(bound, old))) return [];
      return [`${name} is ${bound}, was ${old ?? "not limited"}`];
    });
  return [
    ...gone.map((value) => `the value ${String(value)} is not taken any more`),
    ...(was === null && is !== null ? ["only certain values are taken now"] : []),
    ...bounds(LOWER, (bound, old) => bound > old),
    ...bounds(UPPER, (bound, old) => bound < old),
    ...(after.pattern !== undefined && after.pattern !== before.pattern
      ? [`the pattern is ${after.pattern}, was ${before.pattern ?? "none"}`]
      : []),
    ...(after.uniqueItems === true && before.uniqueItems !== true
      ? ["entries must differ now"]
      : []),
  ];
}

function valuesOf({ enum: values, const: value }: Schema): readonly unknown[] | null {
  return values ?? (value === undefined ? null : [value]);
}

function fieldBreaks({ before, after }: Compared, at: string, context: Walk): Break[] {
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  const found: Break[] = [];
  for (const [name, field] of Object.entries(was)) {
    const now = is[name];
    const where = at === "" || at.endsWith(" ") ? `${at}${name}` : `${at}.${name}`;
    if (now === undefined) found.push({ at: where, what: "the field is gone" });
    else found.push(...walk({ before: field, after: now }, where, context));
  }
  return [...found, ...requiredBreaks({ before, after }, at, context)];
}

function requiredBreaks({ before, after }: Compared, at: string, context: Walk): Break[] {
  const [was, is] = [before.required ?? [], after.required ?? []];
  const kept = Object.keys(after.properties ?? {});
  const [names, what] =
    context.direction === "input"
      ? [is.filter((name) => !was.includes(name)), "must be given now"]
      : [was.filter((name) => !is.includes(name) && kept.includes(name)), "may be absent now"];
  return names.map((name) => ({ at: at.endsWith(" ") ? `${at}${name}` : `${at}.${name}`, what }));
}

/** Entries of lists and values of maps; and whether unknown fields are refused. */
function partBreaks({ before, after }: Compared, at: string, context: Walk): Break[] {
  const [mapped, maps] = [before.additionalProperties, after.additionalProperties];
  const closed = maps === false && mapped !== false && context.direction === "input";
  const pairs: [string, Schema | undefined, Schema | undefined][] = [
    ["[]", before.items, after.items],
    [
      ".*",
      typeof mapped === "object" ? mapped : undefined,
      typeof maps === "object" ? maps : undefined,
    ],
    [" key", before.propertyNames, after.propertyNames],
  ];
  return [
    ...(closed ? [{ at, what: "fields that it does not know are refused now" }] : []),
    ...pairs.flatMap(([step, old, now]) =>
      old !== undefined && now !== undefined
        ? walk({ before: old, after: now }, `${at}${step}`, context)
        : [],
    ),
  ];
}
