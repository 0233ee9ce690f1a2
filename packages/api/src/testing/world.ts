/**
 * A small world that every method can be called in: a tenant with a site, pools, a booked node and keys of
 * every role. Made through the API itself, over whatever surface the caller's `invoke` speaks.
 */
import type { Method, Role } from "../call.ts";

/** Calls a method with a bearer token and plain JSON; throws when the answer is an error. */
export type Invoke = (
  method: Method,
  input: object,
  token: string | null,
) => Promise<Record<string, unknown>>;

export const PERSONAS = [
  "noToken",
  "stranger",
  "viewer",
  "operator",
  "admin",
  "fleetAdmin",
] as const;
export type Persona = (typeof PERSONAS)[number];

export interface World {
  readonly tenantId: string;
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
  /** Not set aside yet. */
  readonly freeUnitId: string;
  readonly unitReservationId: string;
  /** A unit reservation that is there to be cancelled. */
  readonly cancelledId: string;
}

const DAY_MS = 86_400_000;
const GPUS = 8;

/** Names end in `tag`, so that several worlds fit into one database. */
export async function makeWorld(invoke: Invoke, admin: string, tag = "a"): Promise<World> {
  const as = (method: Method, input: object) => invoke(method, input, admin);
  const tenantId = `world-${tag}`;
  const strangerTenantId = `stranger-${tag}`;
  await as("fleet.putTenant", { tenantId });
  await as("fleet.putTenant", { tenantId: strangerTenantId });
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
  const key = async (role: Role, of: string, name: string) =>
    (await as("access.createKey", { tenantId: of, role, name })) as {
      key: { id: string };
      secret: string;
    };
  return {
    tenantId,
    strangerTenantId,
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
    keyId: (await key("tenant-viewer", tenantId, "to-revoke")).key.id,
    tokens: {
      noToken: null,
      stranger: (await key("tenant-admin", strangerTenantId, "stranger")).secret,
      viewer: (await key("tenant-viewer", tenantId, "viewer")).secret,
      operator: (await key("tenant-operator", tenantId, "operator")).secret,
      admin: (await key("tenant-admin", tenantId, "admin")).secret,
      fleetAdmin: admin,
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
  as: (method: Method, input: object) => Promise<Record<string, unknown>>,
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
  as: (method: Method, input: object) => Promise<Record<string, unknown>>,
  ask: { tenantId: string; siteId: string; tag: string },
): Promise<SetAside> {
  const { tenantId, siteId, tag } = ask;
  const report = nodeReport(`u-${tag}`, 3) as { gpus: object[] };
  const gpus = report.gpus.map((gpu, at) => ({ ...gpu, vfioGroup: String(at) }));
  const put = await as("fleet.putNodes", { siteId, nodes: [{ ...report, gpus }] });
  const [{ id: nodeId }] = put["nodes"] as [{ id: string }];
  const node = await as("fleet.getNode", { tenantId, nodeId });
  const [free, kept, cancelled] = (node["units"] as { id: string }[]).map(({ id }) => id);
  const reserve = async (unitId: string | undefined) => {
    const ask = { nodeId, unitIds: [unitId], allowedOrgIds: [tenantId] };
    return String((await as("unitReservations.create", ask))["id"]);
  };
  return {
    nodeId,
    freeUnitId: String(free),
    unitReservationId: await reserve(kept),
    cancelledId: await reserve(cancelled),
  };
}
