/** What crosses the wire: schemas, catalog, error registry. Nothing here knows a server or a database. */
export { ACTIONS, ROLES } from "./access.ts";
export type { Action, Role } from "./access.ts";
export { VERSION_BESIDE, catalog, groups } from "./catalog.ts";
export type { CatalogEntry, CatalogRow, ResourceKind } from "./catalog.ts";
export { LIMITS, PATTERNS } from "./common.ts";
export { eventData } from "./event-data.ts";
export { METHOD_NAMES, contract, schemasOf } from "./contract.ts";
export type { Contract, GroupName, Input, MethodName, Output, RawInput } from "./contract.ts";
export { ERROR_CODES, errorDetails, errors, problem, wireError } from "./errors.ts";
export type { DetailedCode, ErrorCode, ErrorDetails, ErrorEntry, WireError } from "./errors.ts";
export { inputIssues, parseInput } from "./issues.ts";
export { REST_ROUTES, pathFields } from "./rest.ts";
export type { RestRoute } from "./rest.ts";
export { parseTimeText, timeText } from "./time-text.ts";
export type { InputIssue, Parsed } from "./issues.ts";
