/** What the address of this page carries beside the tenant and the selection. */
export type ActivitySearch = Readonly<Record<never, never>>;

export function activitySearch(_raw: Readonly<Record<string, unknown>>): ActivitySearch {
  return {};
}
