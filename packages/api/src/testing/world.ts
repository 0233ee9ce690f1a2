/**
 * A small world that every method can be called in: a tenant with a site, pools, a booked node and keys of
 * every role. Made through the API itself, over whatever surface the caller's `invoke` speaks.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { freshId } from "@berth/domain";
import { makeToken } from "../access/token.ts";
import type { Method, Role } from "../call.ts";

/** Calls a method with a bearer token and plain JSON; throws when the answer is an error. */
export type Invoke = (
  method: Method,
  input: object,
  token: string | null,
) => Promise<Record<string, unknown>>;

/**
 * Who calls, those with the least reach first. The first five have no key that is good; a stranger, a sibling and a
 * child of the tenant are admins of their own; a parent's viewer reaches down.
 */
export const PERSONAS = [
  "noToken",
  "malformed",
  "unknown",
  "revoked",
  "expired",
  "stranger",
  "sibling",
  "child",
  "parentViewer",
  "viewer",
  "operator",
  "admin",
  "fleetAdmin",
] as const;
export type Persona = (typeof PERSONAS)[number];

export interface World {
  readonly tenantId: string;
  /** The tenant above. */
  readonly parentId: string;
  readonly strangerTenantId: string;
  readonly siteId: string;
  readonly poolId: string;
  /** Has nothing in it and is there to be archived. */
  readonly sparePoolId: string;
  readonly nodeId: string;
  readonly unitId: string;
  readonly maintenanceId: string;
  readonly setAside: SetAside;
  /** Held for days, with a lease. */
  readonly reservationId: string;
  readonly reservationEnd: number;
  /** There to be released. */
  readonly releasedId: string;
  /** There to be terminated. */
  readonly terminatedId: string;
  /** A key that is there to be revoked. */
  readonly keyId: string;
  readonly tokens: Readonly<Record<Persona, string | null>>;
}

/** A node in no pool, whose units are set aside. */
export interface SetAside {
  readonly nodeId: string;
  /** Not set aside yet: one for each surface that is asked to. */
  readonly freeUnitIds: readonly string[];
  readonly unitReservationId: string;
  /** A unit reservation that is there to be cancelled. */
  readonly cancelledId: string;
}

const DAY_MS = 86_400_000;
const GPUS = 8;
/** The most surfaces that one method has. */
const SURFACES = 3;

/** Names end in `tag`, so that several worlds fit into one database. */
export async function makeWorld(invoke: Invoke, admin: string, tag = "a"): Promise<World> {
  const as = (method: Method, input: object) => invoke(method, input, admin);
  const { tenantId, strangerTenantId, ...others } = await putTenants(as, tag);
  const site = await as("fleet.putSite", { tenantId, name: "hall-1", region: "eu-1" });
  const siteId = String(site["id"]);
  const pool = await as("pools.create", { tenantId, siteId, class: "metal-host" });
  const spare = await as("pools.create", { tenantId, siteId, class: "metal-host" });
  const poolId = String(pool["id"]);
  const { nodeId, unitId } = await putNode(as, { tenantId, siteId, poolId, tag });
  const from = Date.now() + 300 * DAY_MS;
  const window = { nodeId, from, to: from + DAY_MS };
  const maintenance = await as("fleet.scheduleMaintenance", window);
  const book = async (idempotencyKey: string) =>
    as("reservations.create", {
      ...bookingInput({ tenantId, poolId, idempotencyKey }),
      leaseSeconds: DAY_MS / 1_000,
    });
  const kept = await book("kept");
  const [released, terminated] = [await book("released"), await book("terminated")];
  const { keyId, tokens } = await makeKeys(as, { tenantId, strangerTenantId, ...others });
  return {
    tenantId,
    strangerTenantId,
    parentId: others.parentId,
    siteId,
    poolId,
    sparePoolId: String(spare["id"]),
    nodeId,
    unitId,
    maintenanceId: String(maintenance["id"]),
    setAside: await setUnitsAside(as, { tenantId, siteId, tag }),
    reservationId: String(kept["id"]),
    reservationEnd: Number(kept["end"]),
    releasedId: String(released["id"]),
    terminatedId: String(terminated["id"]),
    keyId,
    tokens: { ...tokens, fleetAdmin: admin },
  };
}

interface Tenants {
  readonly tenantId: string;
  readonly parentId: string;
  readonly siblingId: string;
  readonly childId: string;
  readonly strangerTenantId: string;
}

type As = (method: Method, input: object) => Promise<Record<string, unknown>>;

async function putTenants(as: As, tag: string): Promise<Tenants> {
  const [tenantId, parentId] = [`world-${tag}`, `parent-${tag}`];
  const [siblingId, childId] = [`sibling-${tag}`, `child-${tag}`];
  const strangerTenantId = `stranger-${tag}`;
  for (const id of [parentId, strangerTenantId]) await as("fleet.putTenant", { tenantId: id });
  for (const id of [tenantId, siblingId]) await as("fleet.putTenant", { tenantId: id, parentId });
  await as("fleet.putTenant", { tenantId: childId, parentId: tenantId });
  return { tenantId, parentId, siblingId, childId, strangerTenantId };
}

/** How long the key lives that is there to be over. */
const SHORT_MS = 1_000;

/** Every persona's key but the operator's of the fleet, and one that is there to be revoked. */
async function makeKeys(
  as: As,
  of: Tenants,
): Promise<{ keyId: string; tokens: Omit<World["tokens"], "fleetAdmin"> }> {
  const key = async (role: Role, tenantId: string, name: string, more: object = {}) =>
    (await as("access.createKey", { tenantId, role, name, ...more })) as {
      key: { id: string };
      secret: string;
    };
  const secret = async (role: Role, tenantId: string, name: string) =>
    (await key(role, tenantId, name)).secret;
  const { tenantId } = of;
  const over = Date.now() + SHORT_MS;
  const expired = await key("tenant-admin", tenantId, "expired", { expiresAt: over });
  const revoked = await key("tenant-admin", tenantId, "revoked");
  await as("access.revokeKey", { keyId: revoked.key.id });
  const unknown = makeToken(freshId("key", Date.now(), randomBytes(10)), randomBytes);
  const tokens = {
    noToken: null,
    malformed: `${unknown.slice(0, -1)}${unknown.endsWith("0") ? "1" : "0"}`,
    unknown,
    revoked: revoked.secret,
    expired: expired.secret,
    stranger: await secret("tenant-admin", of.strangerTenantId, "stranger"),
    sibling: await secret("tenant-admin", of.siblingId, "sibling"),
    child: await secret("tenant-admin", of.childId, "child"),
    parentViewer: await secret("tenant-viewer", of.parentId, "parent-viewer"),
    viewer: await secret("tenant-viewer", tenantId, "viewer"),
    operator: await secret("tenant-operator", tenantId, "operator"),
    admin: await secret("tenant-admin", tenantId, "admin"),
  };
  const { key: toRevoke } = await key("tenant-viewer", tenantId, "to-revoke");
  await delay(Math.max(0, over - Date.now()));
  return { keyId: toRevoke.id, tokens };
}

/** A well-formed id that is nobody's. */
export const absentId = <P extends Parameters<typeof freshId>[0]>(prefix: P) =>
  freshId(prefix, Date.now(), randomBytes(10));

/** A tenant's id that is nobody's. */
export const absentTenant = () => `nobody-${randomBytes(8).toString("hex")}`;

/** A world of the same shape in which no id is anybody's. */
export function absentWorld(world: World): World {
  const id = absentId;
  const nobody = absentTenant;
  return {
    ...world,
    tenantId: nobody(),
    parentId: nobody(),
    strangerTenantId: nobody(),
    siteId: id("site"),
    poolId: id("pool"),
    sparePoolId: id("pool"),
    nodeId: id("node"),
    unitId: id("unit"),
    maintenanceId: id("mnt"),
    reservationId: id("rsv"),
    releasedId: id("rsv"),
    terminatedId: id("rsv"),
    keyId: id("key"),
    setAside: {
      nodeId: id("node"),
      freeUnitIds: world.setAside.freeUnitIds.map(() => id("unit")),
      unitReservationId: id("ursv"),
      cancelledId: id("ursv"),
    },
  };
}

/** One GPU for three days. */
export function bookingInput(ask: {
  tenantId: string;
  poolId: string;
  idempotencyKey: string;
}): object {
  return { ...ask, devices: [{ class: "gpu", count: 1 }], duration: "3d" };
}

/** A node's report with GPUs that are its own. */
export function nodeReport(name: string, gpus: number = GPUS): object {
  return {
    name,
    vcpu: 64,
    memoryGiB: 512,
    gpus: Array.from({ length: gpus }, (_, index) => ({
      uuid: `GPU-${name}-${index}`,
      index,
      model: "NVIDIA H100 80GB HBM3",
      memoryMiB: 81_559,
      nvlinkDomain: "0",
    })),
  };
}

async function putNode(
  as: As,
  ask: { tenantId: string; siteId: string; poolId: string; tag: string },
): Promise<{ nodeId: string; unitId: string }> {
  const { tenantId, siteId, poolId, tag } = ask;
  const put = await as("fleet.putNodes", { siteId, poolId, nodes: [nodeReport(`n-${tag}`)] });
  const [{ id: nodeId }] = put["nodes"] as [{ id: string }];
  const node = await as("fleet.getNode", { tenantId, nodeId });
  const [{ id: unitId }] = node["units"] as [{ id: string }];
  return { nodeId, unitId };
}

async function setUnitsAside(
  as: As,
  ask: { tenantId: string; siteId: string; tag: string },
): Promise<SetAside> {
  const { tenantId, siteId, tag } = ask;
  const report = nodeReport(`u-${tag}`, 2 + SURFACES) as { gpus: object[] };
  const gpus = report.gpus.map((gpu, at) => ({ ...gpu, vfioGroup: String(at) }));
  const put = await as("fleet.putNodes", { siteId, nodes: [{ ...report, gpus }] });
  const [{ id: nodeId }] = put["nodes"] as [{ id: string }];
  const node = await as("fleet.getNode", { tenantId, nodeId });
  const [kept, cancelled, ...freeUnitIds] = (node["units"] as { id: string }[]).map(({ id }) => id);
  const reserve = async (unitId: string | undefined) => {
    const ask = { nodeId, unitIds: [unitId], allowedOrgIds: [tenantId] };
    return String((await as("unitReservations.create", ask))["id"]);
  };
  return {
    nodeId,
    freeUnitIds,
    unitReservationId: await reserve(kept),
    cancelledId: await reserve(cancelled),
  };
}
