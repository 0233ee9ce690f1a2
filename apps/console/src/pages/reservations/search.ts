/** What the address of this page carries beside the tenant and the selection. */
export type ReservationsSearch = Record<string, never>;

export function reservationsSearch(_raw: Readonly<Record<string, unknown>>): ReservationsSearch {
  return {};
}
