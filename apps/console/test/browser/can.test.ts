/**
 * `can` against the server's own policies: for each role and each standing of the tenant, what the console says may not
 * be done is refused by the server, and what it says may be done is not refused for who asks.
 */
import { fileURLToPath } from "node:url";
import { createBerth, isBerthError } from "@berth/client";
import type { Berth, Pool, Role, UnitReservation, Whoami } from "@berth/client";
import { withBerth } from "@berth/client/testing";
import type { TestBerth } from "@berth/client/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { can } from "../../src/access/can.ts";
import type { Method, Row } from "../../src/access/can.ts";

const CLI = fileURLToPath(new URL("../../../cli/bin/berth.js", import.meta.url));
const ROLES: readonly Role[] = ["tenant-viewer", "tenant-operator", "tenant-admin", "fleet-admin"];
/** The owner of machines and pool, and a tenant that the pool is offered to. */
const TENANTS = ["lab", "vision"] as const;

let server: TestBerth;
let admin: Berth;
/** GPUs that are set aside on a node of the lab's. */
let aside: { readonly nodeId: string; readonly reservationId: string };
/** A booking of vision's in the lab's pool. */
let booked: string;
beforeAll(async () => {
  server = await withBerth({ command: [process.execPath, CLI], fleet: "demo" });
  admin = createBerth({ url: server.url, token: server.token });
  aside = await setAside();
  const { id } = await admin.reservations.create({
    tenantId: "vision",
    poolId: (await things("vision")).pool.id,
    devices: [{ class: "gpu", count: 1 }],
    duration: "2h",
  });
  booked = id;
});
afterAll(() => server.stop());

async function setAside(): Promise<typeof aside> {
  const { pool } = await things("lab");
  const gpu = { uuid: "GPU-aside-0", index: 0, model: pool.gpuModel ?? "", vfioGroup: "7" };
  const { nodes } = await admin.fleet.putNodes({
    siteId: pool.siteId,
    poolId: pool.id,
    nodes: [{ name: "aside", gpus: [gpu] }],
  });
  const nodeId = nodes[0]?.id ?? "";
  const { units } = await admin.fleet.getNode({ tenantId: "lab", nodeId });
  const made = await admin.unitReservations.create({
    nodeId,
    unitIds: units.map(({ id }) => id),
    allowedOrgIds: ["vision"],
  });
  return { nodeId, reservationId: made.id };
}

interface Caller {
  readonly berth: Berth;
  readonly tenantId: string;
  readonly who: Whoami;
}

async function caller(tenantId: string, role: Role, scope?: object): Promise<Caller> {
  const at = role === "fleet-admin" ? "platform" : tenantId;
  const name = `can-${role}-${tenantId}-${scope === undefined ? "all" : "narrow"}`;
  const { secret } = await admin.access.createKey({
    tenantId: at,
    role,
    name,
    ...(scope && { scope }),
  });
  const berth = createBerth({ url: server.url, token: secret });
  return { berth, tenantId, who: await berth.access.whoami() };
}

/** Things of the example that calls are made about. */
interface Things {
  readonly pool: Pool;
  readonly nodeId: string;
  readonly unitId: string;
  readonly siteId: string;
}

async function things(tenantId: string): Promise<Things> {
  const { pools } = await admin.pools.list({ tenantId });
  const pool = pools.find(({ gpuModel, sharing }) => sharing === "exclusive" && gpuModel !== null);
  if (!pool) throw new Error("the example has no pool");
  const [node] = await admin.fleet.listNodes({ tenantId, poolId: pool.id }).toArray({ limit: 1 });
  const unitId = node?.units[0]?.id;
  if (!node || unitId === undefined) throw new Error("the pool has no node");
  return { pool, nodeId: node.id, unitId, siteId: pool.siteId };
}

/** What is asked of both. Of things that are not there the server says NOT_FOUND first, so those tell nothing. */
const TOLD = [
  "pools.offer",
  "pools.unoffer",
  "pools.update",
  "reservations.create",
  "reservations.terminate",
  "unitReservations.create",
  "unitReservations.release",
  "unitReservations.reclaim",
  "unitReservations.reaffirm",
  "unitReservations.cancel",
  "fleet.putTenant",
  "fleet.putNodes",
  "fleet.assignNode",
  "fleet.removeNode",
  "fleet.setNodeState",
  "fleet.setUnitHealth",
  "fleet.scheduleMaintenance",
  "access.audit",
] as const satisfies readonly Method[];
type Told = (typeof TOLD)[number];

/** What each call is decided about. */
function rowOf(method: Method, { pool }: Things): Row {
  const node = { poolId: pool.id, owned: pool.owned };
  if (method.startsWith("unitReservations.") || method.startsWith("fleet.")) return { node };
  return method.startsWith("pools.") || method.startsWith("reservations.") ? { pool } : {};
}

/**
 * Each call, made so that being let through leaves the others as they were: of something that is not there, of a version
 * that has passed, or of input that only the method itself refuses.
 */
function calls(
  { berth, tenantId }: Caller,
  it: Things,
): Readonly<Record<Told, () => Promise<unknown>>> {
  const poolId = it.pool.id;
  const stale = { version: 999_999_999 };
  const past = { from: 1, to: 2 };
  return {
    "pools.offer": () =>
      berth.pools.offer({ tenantId, poolId, toTenantId: "nobody-at-all", quota: {} }),
    "pools.unoffer": () => berth.pools.unoffer({ tenantId, poolId, toTenantId: tenantId }),
    "pools.update": () => berth.pools.update({ tenantId, poolId, policy: { label: "can" } }),
    "reservations.create": () =>
      berth.reservations.create({
        tenantId,
        poolId,
        devices: [{ class: "gpu", count: 1 }],
        duration: "1h",
      }),
    "reservations.terminate": () =>
      berth.reservations.terminate({ tenantId, reservationId: booked, reason: "none", ...stale }),
    "unitReservations.create": () =>
      berth.unitReservations.create({
        nodeId: it.nodeId,
        unitIds: [`unit_${"0".repeat(26)}`],
        allowedOrgIds: ["vision"],
      }),
    "unitReservations.cancel": () => berth.unitReservations.cancel(aside),
    "unitReservations.release": () => berth.unitReservations.release(aside),
    "unitReservations.reclaim": () => berth.unitReservations.reclaim({ ...aside, dryRun: true }),
    "unitReservations.reaffirm": () => berth.unitReservations.reaffirm(aside),
    "fleet.putTenant": () => berth.fleet.putTenant({ tenantId: "circle", parentId: "circle" }),
    "fleet.putNodes": () =>
      berth.fleet.putNodes({ siteId: it.siteId, nodes: [{ name: "can-node" }] }),
    "fleet.assignNode": () => berth.fleet.assignNode({ nodeId: it.nodeId, poolId, ...stale }),
    "fleet.removeNode": () => berth.fleet.removeNode({ nodeId: it.nodeId, ...stale }),
    "fleet.setNodeState": () =>
      berth.fleet.setNodeState({ nodeId: it.nodeId, state: "ready", ...stale }),
    "fleet.setUnitHealth": () =>
      berth.fleet.setUnitHealth({ unitId: it.unitId, healthy: true, ...stale }),
    "fleet.scheduleMaintenance": () =>
      berth.fleet.scheduleMaintenance({ nodeId: it.nodeId, ...past, dryRun: true }),
    "access.audit": () => berth.access.audit({ tenantId, limit: 1 }),
  };
}

/** FORBIDDEN, or hidden from who has nothing to do with it. */
async function isRefused(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    if (!isBerthError(error)) throw error;
    return error.code === "FORBIDDEN" || error.code === "NOT_FOUND";
  }
}

describe("what the console lets be done", () => {
  for (const tenantId of TENANTS)
    for (const role of ROLES)
      it(`is what the server does, for ${role} about ${tenantId}`, async () => {
        const who = await caller(tenantId, role);
        const about = await things(tenantId);
        const made = calls(who, about);
        const server = new Map<Told, boolean>();
        for (const method of TOLD) server.set(method, !(await isRefused(made[method])));
        const console = TOLD.map((method) => [
          method,
          can(method, { ...who.who, tenantId }, rowOf(method, about)).may,
        ]);
        expect(Object.fromEntries(console)).toEqual(Object.fromEntries(server));
      });

  it("is narrowed as the key is", async () => {
    const about = await things("vision");
    const scope = { poolIds: [about.pool.id], actions: ["compute:reservations:create"] };
    const narrow = await caller("vision", "tenant-admin", scope);
    const who = { ...narrow.who, tenantId: "vision" };
    expect(can("reservations.create", who, { pool: about.pool })).toEqual({ may: true });
    expect(can("reservations.create", who, { pool: { ...about.pool, id: "pool_other" } }).may).toBe(
      false,
    );
    expect(can("reservations.release", who, { pool: about.pool })).toMatchObject({
      may: false,
      why: "Your key does not hold compute:reservations:manage.",
    });
    const made = calls(narrow, about);
    expect(await isRefused(made["reservations.create"])).toBe(false);
    expect(await isRefused(made["access.audit"])).toBe(true);
  });
});

describe("what the state of a row allows", () => {
  const who = { role: "fleet-admin", scope: null, tenantId: "vision" } as const;

  it("is what the server allows of a reservation, and it says why not", async () => {
    const about = await things("vision");
    const berth = createBerth({ url: server.url, token: server.fleet?.tenants["vision"] ?? "" });
    const made = await berth.reservations.create({
      tenantId: "vision",
      poolId: about.pool.id,
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
    });
    const ref = { tenantId: "vision", reservationId: made.id };
    expect(can("reservations.renew", who, { reservation: made })).toEqual({
      may: false,
      why: "It has no lease: it lasts until its end.",
    });
    await expect(berth.reservations.renew(ref)).rejects.toMatchObject({ code: "INVALID_STATE" });
    expect(can("reservations.extend", who, { reservation: made }).may).toBe(true);
    const over = await berth.reservations.release(ref);
    expect(can("reservations.extend", who, { reservation: over })).toEqual({
      may: false,
      why: "It is over: released.",
    });
    await expect(
      berth.reservations.extend({ ...ref, end: made.end + 60_000 }),
    ).rejects.toMatchObject({ code: "INVALID_STATE" });
    expect(can("reservations.create", who, { reservation: over }).may).toBe(true);
  });

  it("keeps what is set aside from being sold twice and taken back when nothing is sold", () => {
    const aside: UnitReservation = {
      id: "ursv",
      nodeId: "node",
      status: "active",
      allowedOrgIds: ["vision"],
      reservedUnitIds: ["a", "b"],
      startsAt: "2026-12-07T08:00:00Z",
    };
    const may = (method: Method, given: Partial<UnitReservation>): boolean =>
      can(method, who, { unitReservation: { ...aside, ...given } }).may;
    expect(may("unitReservations.reclaim", {})).toBe(false);
    expect(may("unitReservations.reclaim", { releasedUnitIds: ["a"] })).toBe(true);
    expect(may("unitReservations.release", { releasedUnitIds: ["a"] })).toBe(true);
    expect(may("unitReservations.release", { releasedUnitIds: ["a", "b"] })).toBe(false);
    expect(may("unitReservations.reaffirm", {})).toBe(false);
    expect(may("unitReservations.reaffirm", { status: "needs-review" })).toBe(true);
    expect(may("unitReservations.cancel", { status: "expired" })).toBe(false);
  });
});
