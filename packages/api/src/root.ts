/**
 * From contract, catalog and handlers to the router. A method without a row, a row without a handler, or a
 * row that the policies cannot speak of stops the start; the types say the same before that.
 */
import { type CatalogRow, METHOD_NAMES, catalog } from "@berth/contract";
import type { TenantId } from "@berth/domain";
import type { AnyTRPCRouter } from "@trpc/server";
import type { Refused } from "./access/access.ts";
import { createFamiliar } from "./access/familiar.ts";
import { createAudit } from "./audit.ts";
import { type AnyHandler, handedKind } from "./authorize.ts";
import type { Answer, Deps, Handlers, Method, Principal } from "./call.ts";
import { ApiError } from "./errors.ts";
import { type Feed, createFeed } from "./feed/feed.ts";
import { handlers as allHandlers } from "./groups/index.ts";
import { HANDED } from "./handed.ts";
import { CALLER_MS, inTime } from "./in-time.ts";
import { type Perform, performing } from "./perform.ts";
import { type ApiContext, procedureOf, router as makeRouter } from "./trpc.ts";

/** What is built from; tests leave parts out to see the start refused. */
export interface Parts {
  readonly methods: readonly Method[];
  readonly catalog: Readonly<Partial<Record<Method, CatalogRow>>>;
  readonly handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const SHIPPED: Parts = { methods: METHOD_NAMES, catalog, handlers: allHandlers satisfies Handlers };

export interface ContextOptions {
  /** The bearer token; null when there was none. */
  readonly token: string | null;
  readonly requestId: string;
}

/** One call from a transport that is not tRPC's own. */
export interface Invocation {
  readonly method: Method;
  /** Read only after the caller is known. */
  readonly rawInput: () => Promise<unknown>;
  readonly context: ApiContext;
  readonly signal?: AbortSignal | undefined;
  /** As `ApiContext.ifMatch`. */
  readonly ifMatch?: number | undefined;
}

export interface Api {
  readonly router: AnyTRPCRouter;
  /** What one request carries; `answer` is filled in by the call. */
  context(options: ContextOptions): ApiContext;
  /** The principal of a token. @throws ApiError UNAUTHENTICATED */
  authenticate(token: string | null, requestId: string): Promise<Principal>;
  /** Whose the token is that was good here not long ago, else null; costs no query and proves nothing. */
  familiar(token: string): TenantId | null;
  /** What the procedure does over tRPC. @throws ApiError */
  invoke(invocation: Invocation): Promise<unknown>;
  readonly feed: Pick<Feed, "announce" | "figures" | "drain">;
  /** Ends the streams, writes what is held back of the audit trail. */
  stop(): Promise<void>;
}

/** What a server gives; the audit trail and the live feed are the API's own. */
export type GivenDeps = Omit<Deps, "audit" | "feed">;

const NO_TOKEN: Refused = {
  refused: { reason: "none", why: "no bearer token, or one that is too long" },
};

/** @throws Error naming the method that is not whole */
export function createApi(given: GivenDeps, parts: Parts = SHIPPED): Api {
  const feed = createFeed(given.db, given.log);
  const deps: Deps = { ...given, audit: createAudit(given.db, given.log, given.observer), feed };
  const calls = buildCalls(deps, parts);
  const router = buildRouter(calls, parts);
  const familiar = createFamiliar();
  const authenticate = async (token: string | null, requestId: string): Promise<Principal> => {
    const found =
      token === null ? NO_TOKEN : await inTime(CALLER_MS, () => deps.access.authenticate(token));
    if (!("refused" in found)) {
      if (token !== null) familiar.met(token, found.tenantId);
      return found;
    }
    if (token !== null) familiar.forget(token);
    deps.log.info({ requestId, ...found.refused }, "a call without a valid key");
    throw new ApiError("UNAUTHENTICATED");
  };
  return {
    router,
    authenticate,
    familiar: familiar.tenantOf,
    feed,
    context({ token, requestId }) {
      let principal: Promise<Principal> | undefined;
      const answer: Answer = {};
      return {
        requestId,
        log: deps.log,
        answer,
        authenticate: () => (principal ??= authenticate(token, requestId)),
        reauthenticate: () => authenticate(token, requestId),
      };
    },
    invoke({ method, rawInput, context, signal, ifMatch }) {
      const perform = calls.get(method);
      if (!perform) throw new Error(`${method} is no method of this server`);
      return perform({ ctx: { ...context, ifMatch }, rawInput, signal });
    },
    async stop() {
      await Promise.all([feed.stop(), deps.audit.stop()]);
    },
  };
}

/** Each method as one function. */
function buildCalls(deps: Deps, parts: Parts): ReadonlyMap<Method, Perform> {
  return new Map(
    parts.methods.map((method) => {
      const row = rowOf(deps, method, parts);
      return [method, performing(deps, { method, row, handler: handlerOf(method, parts) })];
    }),
  );
}

function buildRouter(calls: ReadonlyMap<Method, Perform>, parts: Parts): AnyTRPCRouter {
  const groups: Record<string, Record<string, ReturnType<typeof procedureOf>>> = {};
  for (const [method, perform] of calls) {
    const [group = "", name = ""] = method.split(".");
    (groups[group] ??= {})[name] = procedureOf(parts.catalog[method]?.kind ?? "read", perform);
  }
  return makeRouter(
    Object.fromEntries(
      Object.entries(groups).map(([group, record]) => [group, makeRouter(record)]),
    ),
  );
}

function rowOf(deps: Deps, method: Method, parts: Parts): CatalogRow {
  const row = parts.catalog[method];
  if (!row) throw new Error(`${method} has no row in the catalog: nobody decided who may call it`);
  if (handedKind(row) !== HANDED[method])
    throw new Error(`${method} is decided on ${row.resource}, but handed ${HANDED[method]}`);
  for (const { action, resource } of [row, ...(row.alternative ? [row.alternative] : [])])
    if (resource !== "none" && !deps.access.knows(action, resource))
      throw new Error(`${method}: the policies' schema has no ${action} on ${resource}`);
  return row;
}

function handlerOf(method: Method, parts: Parts): AnyHandler {
  const [group = "", name = ""] = method.split(".");
  const handler = parts.handlers[group]?.[name];
  if (!isHandler(handler)) throw new Error(`${method} has no handler`);
  return handler;
}

/** The types of `Handlers` tie each handler to its method; here only that there is one is left to check. */
function isHandler(value: unknown): value is AnyHandler {
  return typeof value === "object" && value !== null && "run" in value;
}
