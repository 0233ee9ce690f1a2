/** What the address of this page carries beside the tenant and the selection. */
export type OverviewSearch = Record<string, never>;

export function overviewSearch(_raw: Readonly<Record<string, unknown>>): OverviewSearch {
  return {};
}
