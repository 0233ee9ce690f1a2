/** What the address of this page carries beside the tenant and the selection. */
export type PoolSearch = Readonly<Record<never, never>>;

export function poolSearch(_raw: Readonly<Record<string, unknown>>): PoolSearch {
  return {};
}
