/** The shape of an answer: which fields it has and of which type. Later servers may add, not take away or change. */

export type Shape =
  | "string"
  | "number"
  | "boolean"
  | "null"
  /** Of an empty list nothing is known. */
  | readonly Shape[]
  /** A name that ends in `?` may be missing. */
  | { readonly [field: string]: Shape };

/** Between shapes of which one holds; no field of ours is called so. */
const ONE_OF = "$oneOf";
/** What tells the entries of a list apart: each kind has a shape of its own. */
const KIND = "type";
const BY_KIND = "$byType";

export function shapeOf(value: unknown): Shape {
  if (value === null) return "null";
  if (Array.isArray(value)) return listShape(value);
  if (typeof value === "object")
    return Object.fromEntries(
      Object.entries(value as object).map(([name, field]) => [name, shapeOf(field)]),
    );
  return typeof value as "string" | "number" | "boolean";
}

function listShape(list: readonly unknown[]): Shape {
  if (list.length === 0) return [];
  const kinds = Map.groupBy(list, kind);
  const shapes = (entries: readonly unknown[]): Shape => entries.map(shapeOf).reduce(merged);
  if (kinds.has(undefined)) return [shapes(list)];
  return [
    { [BY_KIND]: Object.fromEntries([...kinds].map(([name, some]) => [name, shapes(some)])) },
  ];
}

function kind(entry: unknown): string | undefined {
  const { [KIND]: name } = Object(entry) as { readonly [KIND]?: unknown };
  return typeof name === "string" ? name : undefined;
}

const isFields = (shape: Shape): shape is { readonly [field: string]: Shape } =>
  typeof shape === "object" && !Array.isArray(shape) && !(ONE_OF in shape);

/** What holds for both. */
function merged(a: Shape, b: Shape): Shape {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  if (isFields(a) && isFields(b)) return mergedFields(a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    const [inA, inB] = [a[0] as Shape | undefined, b[0] as Shape | undefined];
    return inA && inB ? [merged(inA, inB)] : [];
  }
  const all = [...choices(a), ...choices(b)];
  const fields = all.filter(isFields);
  const rest = all.filter((shape) => !isFields(shape));
  const different = new Map(rest.map((shape) => [JSON.stringify(shape), shape]));
  const folded = fields.length > 0 ? [fields.reduce<Shape>(merged, fields[0] as Shape)] : [];
  return { [ONE_OF]: [...folded, ...different.values()] };
}

const choices = (shape: Shape): readonly Shape[] =>
  typeof shape === "object" && !Array.isArray(shape) && ONE_OF in shape
    ? ((shape as Record<string, Shape>)[ONE_OF] as readonly Shape[])
    : [shape];

type Fields = Readonly<Record<string, Shape>>;

function mergedFields(a: Fields, b: Fields): Shape {
  const bare = (name: string): string => name.replace(/\?$/, "");
  const names = new Set([...Object.keys(a), ...Object.keys(b)].map(bare));
  return Object.fromEntries(
    [...names].map((name) => {
      const [inA, inB] = [a[name] ?? a[`${name}?`], b[name] ?? b[`${name}?`]];
      const isSure = a[name] !== undefined && b[name] !== undefined;
      const shape = inA && inB ? merged(inA, inB) : ((inA ?? inB) as Shape);
      return [isSure ? name : `${name}?`, shape];
    }),
  );
}

/** What a reader of the shape would miss in the value: empty when it holds. */
export function missing(shape: Shape, value: unknown, at = "answer"): string[] {
  // Null then, so its type is not known.
  if (shape === "null") return [];
  if (typeof shape === "string")
    return typeof value === shape ? [] : [`${at} was a ${shape} and is ${kindOf(value)}`];
  if (Array.isArray(shape)) return missingInList(shape as readonly Shape[], value, at);
  if (ONE_OF in shape) {
    const tried = choices(shape).map((choice) =>
      choice === "null" && value !== null ? [`${at} was null`] : missing(choice, value, at),
    );
    return tried.some((found) => found.length === 0) ? [] : (tried[0] ?? []);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [`${at} was an object and is ${kindOf(value)}`];
  return Object.entries(shape).flatMap(([name, field]) => {
    const bare = name.replace(/\?$/, "");
    if (Object.hasOwn(value, bare))
      return missing(field, (value as Record<string, unknown>)[bare], `${at}.${bare}`);
    return bare === name ? [`${at}.${name} is gone`] : [];
  });
}

function missingInList([element]: readonly Shape[], value: unknown, at: string): string[] {
  if (!Array.isArray(value)) return [`${at} was a list and is ${kindOf(value)}`];
  if (element === undefined) return [];
  if (value.length === 0) return [`${at} had entries and is empty`];
  if (typeof element === "object" && BY_KIND in element)
    return Object.entries((element as Fields)[BY_KIND] as Fields).flatMap(([name, shape]) => {
      const some = value.filter((entry) => kind(entry) === name);
      if (some.length === 0) return [`${at} had entries of the type ${name} and has none`];
      return some.flatMap((entry) => missing(shape, entry, `${at}[${name}]`));
    });
  return value.flatMap((entry, index) => missing(element, entry, `${at}[${index}]`));
}

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
