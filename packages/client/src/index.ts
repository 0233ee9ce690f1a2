/** Typed client for Berth: ask what fits, book GPUs, renew, extend, release. */
export { createBerth } from "./berth.ts";
export type { Berth, Reservations } from "./berth.ts";
export { BerthError, isBerthError } from "./errors.ts";
export type { BerthErrorCode, BerthErrorParts, DetailsOf } from "./errors.ts";
export type { BerthOptions, CallOptions, WatchOptions } from "./options.ts";
export type * from "./api.gen.ts";
