/**
 * The chain that every call takes, in this order: the input by itself, the caller's role on the tenant, the
 * used idempotency key, what the tenant may know of, the decision, the method. What is hidden is NOT_FOUND
 * by the same statements as what is not there; FORBIDDEN is only for what the caller may see. The catalog's
 * row says what is asked; no method has a say in it.
 */
import type { CatalogRow } from "@berth/contract";
import type {
  InputIssue,
  KeyId,
  MaintenanceId,
  NodeId,
  PoolId,
  ReservationId,
  SiteId,
  TenantId,
  UnitId,
} from "@berth/domain";
import type { Resource } from "./access/policy.ts";
import { actionInScope, poolInScope } from "./access/scope.ts";
import { auditEntry } from "./audit.ts";
import type {
  Call,
  Method,
  NodeScope,
  PoolScope,
  Principal,
  TenantScope,
  UnitScope,
  VisibleNode,
} from "./call.ts";
import { ApiError, fromIssues, toApiError } from "./errors.ts";
import type { HandedKind } from "./handed.ts";
import {
  type PoolSeen,
  type ReservationSeen,
  findNode,
  keyTenant,
  poolSight,
  reservationSight,
  siteTenant,
  tenantChain,
  unitSight,
} from "./visibility.ts";

/** A handler of any method, as the chain sees it. */
export interface AnyHandler {
  check?(input: unknown): readonly InputIssue[];
  replay?(call: Call, input: unknown, scope: TenantScope): Promise<unknown>;
  run(call: Call, input: unknown, scope: unknown): Promise<unknown>;
}

/** The fields by which inputs name things. */
interface Named {
  readonly tenantId?: TenantId;
  readonly poolId?: PoolId | null;
  readonly reservationId?: ReservationId;
  readonly siteId?: SiteId;
  readonly nodeId?: NodeId;
  readonly unitId?: UnitId;
  readonly maintenanceId?: MaintenanceId;
  readonly keyId?: KeyId;
}

export interface Step {
  readonly row: CatalogRow;
  readonly handler: AnyHandler;
  readonly call: Call;
  readonly input: unknown;
}

/** Of a pool that is not the tenant's own, these do not even exist for it. */
const OWNER_ACTIONS = new Set(["compute:pools:share", "compute:pools:manage"]);
/**
 * Of what is asked of a whole tenant, all that is open to a key that is narrowed to pools: these leave out
 * the other pools themselves, and createKey sees to it that the new key is no wider. The rest tells of more.
 */
const NARROWS_ITSELF: ReadonlySet<Method> = new Set<Method>([
  "capacity.summary",
  "pools.list",
  "reservations.list",
  "reservations.watch",
  "fleet.listNodes",
  "events.list",
  "access.createKey",
]);
const NO_PLATFORM = {
  message:
    "This server knows no platform operator, so it has no unit reservations: BERTH_PLATFORM_ORG names one.",
};
const LIMITED = { message: "This key is limited to its pools." };
/** No pool: asked about so that a hidden thing costs the statements that a missing one costs. */
const NO_POOL: PoolId = `pool_${"0".repeat(52)}`;

/** @throws ApiError */
export async function authorized(step: Step): Promise<unknown> {
  const { call, handler, input, row } = step;
  refuseIssues(handler.check?.(input));
  const settled = await settle(step).catch((thrown: unknown) => {
    if (thrown instanceof Denied) call.deps.audit.deny(call, thrown.code);
    throw thrown;
  });
  if ("replayed" in settled) {
    call.answer.replayed = true;
    return settled.replayed;
  }
  if (row.kind === "mutation") return audited(step, settled.scope);
  return handler.run(rechecking(step), input, settled.scope);
}

/** What is asked of a stream's caller again and again beside the key costs a query, so it is asked less often. */
const SETTLED_MS = 4_000;

/** What is asked of a caller again is whether it may. Its own key may be used by now: that is no replay. */
const ANSWERS_NOTHING_AGAIN: AnyHandler = { run: () => Promise.resolve(undefined) };

/** The call of what goes on for long, a stream or a wait: to recheck it is to take the chain again. */
function rechecking(step: Step): Call {
  let settledAt = performance.now();
  const recheck = async (): Promise<void> => {
    await step.call.recheck();
    if (performance.now() - settledAt < SETTLED_MS) return;
    settledAt = performance.now();
    await settle({ ...step, handler: ANSWERS_NOTHING_AGAIN });
  };
  return { ...step.call, recheck };
}

function refuseIssues(issues: readonly InputIssue[] = []): void {
  if (issues.length > 0) throw fromIssues(issues);
}

/** A refusal of the chain itself: counted, not listed one by one. */
class Denied extends ApiError {}

type Settled = { readonly replayed: unknown } | { readonly scope: object };

async function settle(step: Step): Promise<Settled> {
  const { row, call, input } = step;
  const named = (input ?? {}) as Named;
  if (row.resource === "none") return { scope: {} };
  if (handedKind(row) === "units") return { scope: await unitScope(step, named) };
  if (row.resource === "compute-fleet" && !row.alternative) {
    if (!poolInScope(call.principal, null)) throw new Denied("FORBIDDEN", LIMITED);
    decide(call, row.action, [{ kind: "compute-fleet" }]);
    return { scope: {} };
  }
  const { tenantId, node } = await subjectOf(step, named);
  const seen = await look(step, tenantId, { ...named, node });
  const scope = roleOn(call, seen.chain);
  const replayed = await replay(step, scope);
  if (replayed !== undefined) return { replayed };
  const { resource, handed } = sight(step, scope, seen);
  checkKeyPools(step, named, resource);
  decide(call, row.action, hasFleetWay(row) ? [resource, { kind: "compute-fleet" }] : [resource]);
  return { scope: handed };
}

/** What is not among the key's actions is not answered again either: it is decided on, and refused. */
async function replay(step: Step, scope: TenantScope): Promise<unknown> {
  const { handler, call, input, row } = step;
  if (!handler.replay || !actionInScope(call.principal, row.action)) return undefined;
  try {
    return await handler.replay(call, input, scope);
  } catch (thrown) {
    fileRefusal(step, scope.tenantId, thrown);
    throw thrown;
  }
}

/** What is outside the key's pools is not there for it; a whole tenant is, and is refused. */
function checkKeyPools(step: Step, named: Named, resource: Resource): void {
  const { principal, method } = step.call;
  if (poolInScope(principal, poolOf(resource, named))) return;
  if (resource.kind !== "compute-tenant" || named.poolId) throw new Denied("NOT_FOUND");
  if (!NARROWS_ITSELF.has(method)) throw new Denied("FORBIDDEN", LIMITED);
}

function poolOf(resource: Resource, named: Named): PoolId | null {
  if (resource.kind === "compute-pool") return resource.pool.poolId;
  if (resource.kind === "compute-node") return resource.node.poolId;
  return named.poolId ?? null;
}

function hasFleetWay(row: CatalogRow): boolean {
  return row.resource === "compute-fleet" || row.alternative?.resource === "compute-fleet";
}

interface Subject {
  readonly tenantId: TenantId;
  readonly node: VisibleNode | null;
}

/** The tenant that the call is about: named, or the owner of what is named. "" is nobody's. */
async function subjectOf({ call, row }: Step, named: Named): Promise<Subject> {
  const node = row.resource === "compute-node" ? await findNamedNode(call, named) : null;
  if (named.tenantId !== undefined) return { tenantId: named.tenantId, node };
  if (row.resource === "compute-node") return { tenantId: node?.tenantId ?? "", node };
  if (named.siteId) return { tenantId: (await siteTenant(call, named.siteId)) ?? "", node };
  if (named.keyId) return { tenantId: (await keyTenant(call, named.keyId)) ?? "", node };
  return { tenantId: call.principal.tenantId, node };
}

async function findNamedNode(call: Call, named: Named): Promise<VisibleNode | null> {
  if (named.nodeId) return findNode(call, { nodeId: named.nodeId });
  if (named.unitId) return findNode(call, { unitId: named.unitId });
  if (named.maintenanceId) return findNode(call, { maintenanceId: named.maintenanceId });
  return null;
}

/** A role reaches the tenants below the one that it is held on; fleet-admin's reaches all. */
function roleOn(call: Call, chain: readonly TenantId[]): TenantScope {
  const [found, ...ancestors] = chain;
  if (found === undefined || !reaches(call.principal, [found, ...ancestors]))
    throw new Denied("NOT_FOUND");
  return { tenantId: found, ancestors };
}

function reaches(principal: Principal, chain: readonly TenantId[]): boolean {
  return principal.role === "fleet-admin" || chain.includes(principal.tenantId);
}

interface Sight {
  readonly resource: Resource;
  /** What the handler is given. */
  readonly handed: TenantScope | PoolScope | NodeScope;
}

/** Of two ways in, the one that names a thing; the fleet as a whole names none. */
export function handedKind(row: CatalogRow): HandedKind {
  if (row.group === "unitReservations") return "units";
  const resource =
    row.resource === "compute-fleet" ? (row.alternative?.resource ?? "none") : row.resource;
  return resource === "compute-fleet" ? "none" : resource;
}

/** What the tenant has to do with what was named; whether it may know of either is decided after. */
type Looked =
  | { readonly chain: readonly TenantId[] }
  | PoolSeen
  | ReservationSeen
  | (PoolSeen & { readonly node: VisibleNode | null });

/** One statement, with the same text for what is hidden and what is not there. */
async function look(
  { call, row }: Step,
  tenantId: TenantId,
  named: Named & { node: VisibleNode | null },
): Promise<Looked> {
  const { access, db } = call.deps;
  switch (handedKind(row)) {
    case "compute-pool": {
      if (!named.reservationId) return poolSight(db, tenantId, named.poolId ?? NO_POOL);
      // Where the fleet is a way in, or the pool's ownership is, reservations of other tenants are in sight.
      const asOwner = row.resource === "compute-fleet";
      const asFleet =
        asOwner && access.decide(call.principal, row.action, { kind: "compute-fleet" });
      return reservationSight(db, tenantId, { id: named.reservationId, asOwner, asFleet });
    }
    case "compute-node": {
      const { node } = named;
      return { ...(await poolSight(db, tenantId, node?.poolId ?? NO_POOL)), node };
    }
    default:
      return { chain: await tenantChain(db, tenantId) };
  }
}

function sight({ row }: Step, scope: TenantScope, seen: Looked): Sight {
  if ("found" in seen) {
    if (!seen.found) throw new Denied("NOT_FOUND");
    const { pool, id, tenantId } = seen.found;
    const reservation = { id, tenantId };
    return {
      resource: { kind: "compute-pool", scope, pool },
      handed: { ...scope, pool, reservation },
    };
  }
  if ("node" in seen) {
    const { node, pool } = seen;
    // The tenant's own, or in a pool that it sees.
    if (!node || (node.tenantId !== scope.tenantId && !pool)) throw new Denied("NOT_FOUND");
    return { resource: { kind: "compute-node", scope, node }, handed: { ...scope, node } };
  }
  if ("pool" in seen) {
    const { pool } = seen;
    if (!pool || (OWNER_ACTIONS.has(row.action) && !pool.owned)) throw new Denied("NOT_FOUND");
    return { resource: { kind: "compute-pool", scope, pool }, handed: { ...scope, pool } };
  }
  return { resource: { kind: "compute-tenant", scope }, handed: scope };
}

/** The fleet's operator, the node's owner and the orgs that manage it; to all others there is nothing there. */
async function unitScope(
  { call, row }: Step,
  named: { readonly nodeId?: NodeId; readonly reservationId?: string },
): Promise<UnitScope> {
  const { access, options } = call.deps;
  const { principal } = call;
  if (options.platformOrg === null) throw new Denied("INVALID_STATE", NO_PLATFORM);
  const scope = roleOn(call, await tenantChain(call.deps.db, principal.tenantId));
  const asFleet = access.decide(principal, "compute:units:reserve", { kind: "compute-fleet" });
  if (named.nodeId === undefined) {
    if (!asFleet && !actionInScope(principal, "compute:units:read")) throw new Denied("FORBIDDEN");
    return { ...scope, node: null, standing: { asFleet, owned: false, managed: false } };
  }
  const { nodeId, reservationId = null } = named;
  const found = await unitSight(call, { nodeId, reservationId });
  const sees = principal.role === "fleet-admin" || found?.owned === true || found?.managed === true;
  if (!found || !sees || !poolInScope(principal, found.node.poolId)) throw new Denied("NOT_FOUND");
  const { node, owned, managed } = found;
  const standing = { asFleet, owned, managed };
  const resource = { kind: "compute-node", scope, node, standing } as const;
  const { alternative: way } = row;
  if (!asFleet && !(way && access.decide(principal, way.action, resource)))
    throw new Denied("FORBIDDEN");
  return { ...scope, node, standing };
}

/** One of the ways in must be open. */
function decide(call: Call, action: string, ways: readonly Resource[]): void {
  const { access } = call.deps;
  if (ways.some((resource) => access.decide(call.principal, action, resource))) return;
  throw new Denied("FORBIDDEN");
}

/** Runs a mutation and files its outcome; a success is on file before it is answered. */
async function audited(step: Step, scope: object): Promise<unknown> {
  const { call, handler, input } = step;
  const { answer, deps, principal } = call;
  const tenantId = "tenantId" in scope ? String(scope.tenantId) : principal.tenantId;
  try {
    const output = await handler.run(rechecking(step), input, scope);
    if (answer.filed) return output;
    const entry = auditEntry(call, tenantId, targetOf(input, output));
    await deps.audit.record({ ...entry, outcome: "ok" });
    return output;
  } catch (thrown) {
    // What was done and is on file did not fail, whatever kept its answer.
    if (!answer.filed) fileRefusal(step, tenantId, thrown);
    throw thrown;
  }
}

/** One that the method refused, or its used key: each is listed by itself. */
function fileRefusal({ call, input }: Step, tenantId: string, thrown: unknown): void {
  const entry = auditEntry(call, tenantId, targetOf(input, null));
  void call.deps.audit.record({ ...entry, outcome: toApiError(thrown).code });
}

const TARGETS = [
  "reservationId",
  "unitId",
  "maintenanceId",
  "nodeId",
  "poolId",
  "keyId",
  "siteId",
  "tenantId",
] as const;

/** What an answer may carry of what was made; a new key comes beside its secret. */
interface Made {
  readonly id?: unknown;
  readonly key?: { readonly id?: unknown };
}

/** The id of what was made, else the most exact one that was named. */
function targetOf(input: unknown, output: unknown): string | null {
  const made = output as Made | null;
  const id = made?.id ?? made?.key?.id;
  if (typeof id === "string") return id;
  const named = (input ?? {}) as Readonly<Record<string, unknown>>;
  const field = TARGETS.find((name) => typeof named[name] === "string");
  return field ? String(named[field]) : null;
}
