/** Which methods answer in pages, and how one leads to the next: by the fields that their types have. */
import type { MethodSchema, Wire } from "./wire-schema.ts";
import { refName } from "./wire-schema.ts";

export interface Page {
  /** The field of the answer that holds the entries. */
  readonly field: string;
  /** The entries' type. */
  readonly entry: string;
  /** The field of the input that takes `nextCursor`. */
  readonly cursor: string;
}

/** Undefined for a method that answers all at once. Throws at a page whose way on is not clear. */
export function pageOf(wire: Wire, method: MethodSchema): Page | undefined {
  const answer = wire.types.get(method.output)?.properties ?? {};
  if (answer["nextCursor"] === undefined) return undefined;
  const lists = Object.entries(answer).filter(([, part]) => part.items !== undefined);
  const [[field, part] = ["", {}]] = lists;
  const entry = part.items && refName(part.items);
  const input = wire.types.get(method.input)?.properties ?? {};
  const cursors = ["cursor", "after"].filter((name) => input[name] !== undefined);
  const [cursor] = cursors;
  if (lists.length !== 1 || entry === undefined || cursors.length !== 1 || cursor === undefined)
    throw new Error(`${method.name}: a page needs one list of a named type and one cursor`);
  return { field, entry, cursor };
}
