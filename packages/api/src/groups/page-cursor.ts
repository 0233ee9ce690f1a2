/** Cursors of lists that are ordered by one key: opaque text that holds the last key shown. */
import { invalidInput } from "../errors.ts";

export interface PageOf {
  /** Names the list, so that one list's cursor is refused by another. */
  readonly list: string;
  /** The input field that the cursor came in. */
  readonly field: "cursor" | "after";
  readonly key: RegExp;
}

export function encodePageCursor(page: PageOf, key: string): string {
  return Buffer.from(`${page.list} ${key}`).toString("base64url");
}

/** The key after which the page begins; null without a cursor. @throws ApiError INVALID_INPUT */
export function decodePageCursor(page: PageOf, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const [list, key, ...rest] = Buffer.from(cursor, "base64url").toString().split(" ");
  if (list !== page.list || key === undefined || rest.length > 0 || !page.key.test(key))
    throw invalidInput([page.field], "is not a cursor of this list: begin again without one");
  return key;
}
