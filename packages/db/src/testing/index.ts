/** Real PostgreSQL for tests: a database a file, a clock by hand, and a network that breaks on request. */
export { type CutAt, type Fault, type FaultProxy, faultProxy } from "./fault-proxy.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { type OwnCluster, type OwnClusterOptions, ownCluster } from "./own-cluster.ts";
export { seededRandom } from "./random.ts";
export { type PoolSeed, seedPool, seedTenants } from "./seed.ts";
export { type TestDatabase, testDatabase } from "./test-database.ts";
export { waitFor } from "./wait-for.ts";
