/** What the address of this page carries beside the tenant and the selection. */
export type BookSearch = Record<string, never>;

export function bookSearch(_raw: Readonly<Record<string, unknown>>): BookSearch {
  return {};
}
