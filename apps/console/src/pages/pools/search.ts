/** What the address of this page carries beside the tenant and the selection. */
export type PoolsSearch = Readonly<Record<never, never>>;

export function poolsSearch(_raw: Readonly<Record<string, unknown>>): PoolsSearch {
  return {};
}
