/** The fleet, tenants and pools that a soak works on, and what its writers know of it. */
import { Caller } from "../bench/caller.ts";
import type { System } from "../bench/servers.ts";

export const OWNER = "lab";
export const PLATFORM = "platform";
/** `kid` is below `ant` and books from its quota. */
export const GUESTS = ["ant", "bee", "cat", "kid"] as const;
export type Tenant = typeof OWNER | (typeof GUESTS)[number];
export const TENANTS: readonly Tenant[] = [OWNER, ...GUESTS];

export interface SoakPool {
  readonly id: string;
  readonly mode: "exclusive" | "mig" | "timeslice";
  readonly offered: boolean;
}

export interface SoakNode {
  readonly id: string;
  readonly name: string;
  readonly unitIds: readonly string[];
  readonly report: object;
}

/** Everything but the ids of what comes and goes is fixed. */
export interface World {
  readonly siteId: string;
  readonly pools: SoakPool[];
  readonly nodes: readonly SoakNode[];
  readonly tokens: ReadonlyMap<string, string>;
  /** Ids that writers made, of whatever became of them; the oldest are forgotten. */
  readonly reservations: { readonly tenantId: string; readonly id: string }[];
  readonly unitReservations: { readonly nodeId: string; readonly id: string }[];
  readonly maintenance: string[];
}

const EXCLUSIVE_NODES = 8;
const SHARED_NODES = 2;
const QUOTA = { gpu: 24, "gpu.mig": 24, node: 3 };
export const LAYOUTS = [
  ["3g.40gb", "2g.20gb", "2g.20gb"],
  ["7g.80gb"],
  ["1g.10gb", "1g.10gb", "3g.40gb"],
];

/** Tenants with a key each, a site, four pools and a node in none. */
export async function buildWorld(system: System): Promise<World> {
  const admin = new Caller(system.urls[0] ?? "", system.token);
  try {
    const tokens = await makeTenants(admin, system.token);
    const site = await admin.must("fleet.putSite", { tenantId: OWNER, name: "hall", region: "r" });
    const siteId = String(site["id"]);
    const pools = await makePools(admin, siteId);
    const nodes: SoakNode[] = [];
    const put = async (poolId: string | null, reports: readonly NodeReport[]): Promise<void> => {
      nodes.push(...(await putNodes(admin, { siteId, poolId }, reports)));
    };
    const exclusive = range(EXCLUSIVE_NODES).map((n) => report(`x${n}`, { rack: `r${n % 3}` }));
    await put(pools[0]?.id ?? null, exclusive.slice(0, 5));
    await put(pools[1]?.id ?? null, exclusive.slice(5));
    await put(
      pools[2]?.id ?? null,
      range(SHARED_NODES).map((n) => report(`m${n}`, {}, 2)),
    );
    await put(
      pools[3]?.id ?? null,
      range(SHARED_NODES).map((n) => report(`s${n}`, {}, 2)),
    );
    await put(null, [report("spare", { rack: "r0" })]);
    const known = { reservations: [], unitReservations: [], maintenance: [] };
    return { siteId, pools, nodes, tokens, ...known };
  } finally {
    admin.close();
  }
}

async function makeTenants(admin: Caller, adminToken: string): Promise<Map<string, string>> {
  const tokens = new Map<string, string>([[PLATFORM, adminToken]]);
  for (const tenantId of TENANTS) {
    const parent = tenantId === "kid" ? { parentId: "ant" } : {};
    await admin.must("fleet.putTenant", { tenantId, ...parent });
    const key = { tenantId, role: "tenant-admin", name: "soak" };
    tokens.set(tenantId, String((await admin.must("access.createKey", key))["secret"]));
  }
  return tokens;
}

async function makePools(admin: Caller, siteId: string): Promise<SoakPool[]> {
  const wanted = [
    { mode: "exclusive", offered: true, policy: { spot: { noticeSeconds: 1 } } },
    {
      mode: "exclusive",
      offered: true,
      policy: { placement: "spread", spot: { noticeSeconds: 0 } },
    },
    { mode: "mig", offered: true, policy: { migLayout: { A100: LAYOUTS[0] } } },
    { mode: "timeslice", offered: false, policy: { sharing: { replicas: 4 } } },
  ] as const;
  const pools: SoakPool[] = [];
  for (const { mode, offered, policy } of wanted)
    pools.push({ id: await makePool(admin, siteId, { mode, offered, policy }), mode, offered });
  return pools;
}

/** A pool of the owner's, offered to the guests unless its mode forbids that. */
export async function makePool(
  admin: Caller,
  siteId: string,
  plan: Omit<SoakPool, "id"> & { readonly policy: object },
): Promise<string> {
  const { mode: sharing, policy } = plan;
  const ask = { tenantId: OWNER, siteId, class: "metal-host", sharing, policy: layoutOf(policy) };
  const ownerQuota = { gpu: 1_000, "gpu.mig": 1_000, "gpu.slot": 1_000 };
  const made = await admin.must("pools.create", { ...ask, ownerQuota });
  const poolId = String(made["id"]);
  if (!plan.offered) return poolId;
  for (const toTenantId of GUESTS.filter((tenant) => tenant !== "kid"))
    await admin.must("pools.offer", {
      tenantId: OWNER,
      poolId,
      toTenantId,
      quota: QUOTA,
      includeDescendants: toTenantId === "ant",
      priority: toTenantId === "bee" ? 5 : 0,
    });
  return poolId;
}

/** The model as the machines report it stands for its short name. */
function layoutOf(policy: object): object {
  const layout = (policy as { migLayout?: { A100: unknown } }).migLayout;
  return layout ? { ...policy, migLayout: { [MODEL]: layout.A100 } } : policy;
}

export const MODEL = "NVIDIA A100-SXM4-80GB";
const GPUS = 8;

interface NodeReport {
  readonly name: string;
  readonly [part: string]: unknown;
}

function report(name: string, labels: object, gpuCount: number = GPUS): NodeReport {
  const gpus = range(gpuCount).map((index) => ({
    uuid: `${name}-gpu-${index}`,
    index,
    model: MODEL,
    memoryMiB: 81_920,
    nvlinkDomain: index < 4 ? "a" : "b",
    vfioGroup: String(index),
  }));
  const nics = [{ name: "nic0", vfs: 4 }];
  const disks = [{ name: "disk0", sizeGiB: 3_500 }];
  return { name, labels, vcpu: 64, memoryGiB: 512, gpus, nics, disks };
}

async function putNodes(
  admin: Caller,
  where: { readonly siteId: string; readonly poolId: string | null },
  reports: readonly NodeReport[],
): Promise<SoakNode[]> {
  const pool = where.poolId === null ? {} : { poolId: where.poolId };
  const put = await admin.must("fleet.putNodes", { siteId: where.siteId, ...pool, nodes: reports });
  const outcomes = put["nodes"] as { id: string; name: string }[];
  const nodes: SoakNode[] = [];
  for (const [i, { id, name }] of outcomes.entries()) {
    const node = await admin.must("fleet.getNode", { tenantId: OWNER, nodeId: id });
    const unitIds = (node["units"] as { id: string; class: string }[])
      .filter((unit) => unit.class.startsWith("gpu"))
      .map((unit) => unit.id);
    nodes.push({ id, name, unitIds, report: reports[i] ?? {} });
  }
  return nodes;
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
