/** The database: an embedded server when none is given, the schema with its gate, and the pool store. */
export type { Client } from "./client.ts";
export { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
export { emitEvents } from "./emit.ts";
export {
  FolderInUse,
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
} from "./embedded/start-postgres.ts";
export { type TemporaryOptions, startTemporary } from "./embedded/template.ts";
export { ConnectionLost, UnknownOutcome, isTransient, sqlState } from "./errors.ts";
export { FAILPOINTS, type Failpoint, type FailpointName } from "./failpoint.ts";
export type { Listening } from "./listen.ts";
export { type GatheringOptions, gathering, gatheringBy } from "./gathering.ts";
export { grantServing } from "./grant-serving.ts";
export {
  type MigrateOptions,
  MigrationError,
  isMigrated,
  migrate,
  migrationHashes,
} from "./migrate.ts";
export { printSchema } from "./print-schema.ts";
export { SlotPool, type SlotTransaction } from "./slot-pool.ts";
export { createPoolStore } from "./store/pool-store.ts";
export { isDue } from "./store/is-due.ts";
export type {
  ApplyOutcome,
  Beat,
  Delta,
  GateBatch,
  GateHead,
  GateWrite,
  AuditEntry,
  KeyClaim,
  Loaded,
  LockedGate,
  PoolStore,
  QuotaUsed,
  StoredCounts,
  StoreFailure,
} from "./store/types.ts";
