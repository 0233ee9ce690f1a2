/** What the address of this page carries beside the tenant and the selection. */
export type FleetSearch = Readonly<Record<never, never>>;

export function fleetSearch(_raw: Readonly<Record<string, unknown>>): FleetSearch {
  return {};
}
