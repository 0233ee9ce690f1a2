/** A pool as large as they come: nodes of eight GPUs, each booked anew for every hour. */
import { createBerth } from "@berth/client";
import type { Berth } from "@berth/client";

export interface LargePool {
  readonly poolId: string;
  /** An operator's of the tenant that booked. */
  readonly token: string;
}

const TENANT = "large";
const GPUS = 8;
const HOUR_MS = 3_600_000;
/** Members of one booking: a tenth of the calls, and as many bars on each node. */
const MEMBERS = 10;
const AT_ONCE = 16;
const NODES_A_CALL = 250;

/** @param size how many nodes, and how many bookings each has, one after the other */
export async function largePool(
  server: { readonly url: string; readonly token: string },
  size: { readonly nodes: number; readonly bookings: number },
): Promise<LargePool> {
  const admin = createBerth(server);
  await admin.fleet.putTenant({ tenantId: TENANT });
  const site = await admin.fleet.putSite({ tenantId: TENANT, name: "hall", region: "local" });
  const { id: poolId } = await admin.pools.create({
    tenantId: TENANT,
    siteId: site.id,
    class: "metal-host",
    gpuModel: "H100",
    policy: { label: "large" },
  });
  for (let first = 0; first < size.nodes; first += NODES_A_CALL) {
    const count = Math.min(NODES_A_CALL, size.nodes - first);
    const nodes = Array.from({ length: count }, (_, index) => nodeOf(first + index));
    await admin.fleet.putNodes({ siteId: site.id, poolId, nodes });
  }
  await book(admin, poolId, size);
  const key = { tenantId: TENANT, role: "tenant-operator", name: "bench" } as const;
  const { secret } = await admin.access.createKey(key);
  return { poolId, token: secret };
}

function nodeOf(index: number) {
  const name = `node-${String(index + 1).padStart(4, "0")}`;
  return {
    name,
    labels: { rack: `r${String(Math.floor(index / 8) + 1).padStart(3, "0")}` },
    vcpu: 64,
    memoryGiB: 512,
    gpus: Array.from({ length: GPUS }, (_each, gpu) => ({
      uuid: `GPU-${name}-${gpu}`,
      index: gpu,
      model: "H100",
      nvlinkDomain: name,
    })),
  };
}

/** Every node for every hour: the placer has no choice but to give each its bookings. */
async function book(
  admin: Berth,
  poolId: string,
  { nodes, bookings }: { readonly nodes: number; readonly bookings: number },
): Promise<void> {
  const first = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  const starts = Array.from({ length: bookings }, (_, hour) => first + hour * HOUR_MS);
  const asks = starts.flatMap((start) => new Array<number>(nodes / MEMBERS).fill(start)).values();
  const worker = async (): Promise<void> => {
    for (const start of asks)
      await admin.reservations.create({
        tenantId: TENANT,
        poolId,
        devices: [{ class: "gpu", count: GPUS }],
        gang: { size: MEMBERS },
        start,
        duration: HOUR_MS,
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
