/** What a server needs of the API: the router, the way in, and the first key. */
export {
  BootstrapError,
  DEFAULT_PLATFORM,
  anyKey,
  bootstrapKey,
  ensureTenant,
  newBootstrapToken,
} from "./access/bootstrap.ts";
export { type Access, type AccessOptions, createAccess } from "./access/access.ts";
export { IssuerContradiction } from "./access/oidc/fetch-json.ts";
export { type Oidc, type OidcClock, createOidc } from "./access/oidc/oidc.ts";
export {
  type ClaimPath,
  OIDC_ALGORITHMS,
  type OidcSettings,
  type RoleGrant,
  isTrustworthy,
} from "./access/oidc/settings.ts";
export { PolicyError } from "./access/policy.ts";
export { type Recovered, recoverKey } from "./access/recovery.ts";
export { KEY_PATTERN } from "./access/token.ts";
export type {
  Answer,
  ApiObserver,
  ApiOptions,
  Call,
  Deps,
  Handlers,
  Log,
  Method,
  Principal,
} from "./call.ts";
export { ApiError, type ApiErrorParts, logFields, pathText, toApiError, toWire } from "./errors.ts";
export { EVENTS_KEPT_MS, pruneEvents } from "./groups/events/prune.ts";
export { unopenedTokens } from "./groups/pools/seal.ts";
export {
  type Api,
  type ContextOptions,
  type GivenDeps,
  type Invocation,
  createApi,
} from "./root.ts";
export { bodyLimits } from "./input-size.ts";
export { type JsonLimits } from "./json-size.ts";
export { NotJson, type StrictJson, strictJson } from "./strict-json.ts";
export type { ApiContext } from "./trpc.ts";
/** What is wrong with reports of nodes taken together; whoever sends them in parts asks it of the whole first. */
export { reportIssues } from "@berth/domain";
