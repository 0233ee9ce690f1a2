/** Typed client for Berth: ask what fits, book GPUs, renew, extend, release. */
export { createBerth } from "./berth.ts";
export type { Berth } from "./berth.ts";
export { BerthError, isBerthError } from "./errors.ts";
export type {
  BerthErrorCode,
  BerthErrorJson,
  BerthErrorParts,
  DetailsOf,
  HoldLoss,
  RateLimitDetails,
  ReasonOf,
} from "./errors.ts";
export { gpus, nodes } from "./gpus.ts";
export type { GpusOptions, InWords, NodesOptions, NodeShape, Shape, Together } from "./gpus.ts";
export type { Hold, HoldOptions, HoldRequest } from "./hold.ts";
export type { Hooks, ReleaseFailedInfo, RequestInfo, ResponseInfo, RetryInfo } from "./hooks.ts";
export type {
  AppInfo,
  BerthOptions,
  CallOptions,
  RawCallOptions,
  WatchOptions,
} from "./options.ts";
export type { BerthList, BerthPromise, Failed, Result, Success, WithResponse } from "./promise.ts";
export type * from "./api.gen.ts";
