/** Every table of the product, one noun a file. */
export { apiKeys } from "./api-keys.ts";
export { audit } from "./audit.ts";
export { clock, outages, servers } from "./clock.ts";
export { events, streams } from "./events.ts";
export { gateBatches, gates, poolDue } from "./gates.ts";
export { meta } from "./meta.ts";
export { maintenance, nodes, units } from "./nodes.ts";
export { offers, poolAuthz, pools, quotas } from "./pools.ts";
export { bookings, reservationKeys, reservations } from "./reservations.ts";
export { rollups } from "./rollups.ts";
export { providerAccounts, sites } from "./sites.ts";
export { tenants } from "./tenants.ts";
export { unitReservations, unitTerms } from "./unit-reservations.ts";
export { waiters } from "./waiters.ts";
