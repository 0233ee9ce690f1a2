/**
 * What stands in a made input until it is sent: ids of things that exist by then, and JSON that no value can
 * spell. So the same seed makes the same inputs, whatever the ids of a run are.
 */

/** Where every world's clock begins. */
export const NOW = Date.UTC(2031, 4, 5, 9);

/**
 * What ids of a world are drawn from: `tenant`, the prefix of an id, `cursor_` and a method, or `pairnode`
 * and `pairunit`, which are a node and a GPU of it when they have one number.
 */
export type Kind = string;

/** The `nth` newest thing of its kind, counted round and round. */
export const live = (kind: Kind, nth: number): string => `‹${kind}:${nth}›`;

const LIVE = /‹(\w+):(\d+)›/g;

/** Puts ids in place of their marks. */
export function settle(text: string, idOf: (kind: Kind, nth: number) => string): string {
  if (!text.includes("‹")) return text;
  return text.replaceAll(LIVE, (_, kind: string, nth: string) => idOf(kind, Number(nth)));
}

/** JSON as it is to be sent, and a value that a schema judges alike; null in its place: it is no JSON at all. */
export class Spelled {
  readonly text: string;
  readonly like: { readonly value: unknown } | null;
  constructor(text: string, like: { readonly value: unknown } | null) {
    this.text = text;
    this.like = like;
  }
}

/** As JSON; `settled` puts ids in place of the marks. */
export function encode(value: unknown, settled = (text: string): string => text): string {
  const spelled: string[] = [];
  const text = settled(
    JSON.stringify(value, (_key, part: unknown) =>
      part instanceof Spelled ? `‹${spelled.push(part.text) - 1}›` : part,
    ),
  );
  return spelled.length === 0
    ? text
    : text.replaceAll(/"‹(\d+)›"/g, (_, index: string) => settled(spelled[Number(index)] ?? ""));
}

/** As a schema judges it, with ids of the right form in place of the marks; undefined: it is no JSON. */
export function meaning(value: unknown): { readonly value: unknown } | undefined {
  let json = true;
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!(part instanceof Spelled)) return part;
    if (part.like === null) json = false;
    return part.like?.value ?? null;
  });
  if (!json) return undefined;
  return { value: JSON.parse(settle(text, someId)) as unknown };
}

/** An id of the kind that is of the right form; another number, another id. */
export function someId(kind: Kind, nth: number): string {
  if (kind === "tenant") return "t-a";
  return kind.startsWith("cursor")
    ? "AAAA"
    : `${kind.replace("pair", "")}_${String(nth).padStart(26, "0")}`;
}
