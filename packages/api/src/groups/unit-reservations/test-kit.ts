/** A node whose GPUs can be set aside, in a pool that is offered to the guests. For tests only. */
import type { Output } from "@berth/contract";
import { BookingApi } from "../test-kit.ts";

type Loose = Readonly<Record<string, unknown>>;
export type Fence = Output<"unitReservations.get">;

type Named = Loose & { readonly unitIds: readonly (string | undefined)[] };

export interface Machine {
  readonly poolId: string;
  readonly nodeId: string;
  /** By index. */
  readonly units: readonly string[];
}

export class UnitsApi {
  readonly api: BookingApi;
  #nodes = 0;

  private constructor(api: BookingApi) {
    this.api = api;
  }

  /** With the tenants `t-m`, which manages, and `t-child`, below the owner. */
  static async open(): Promise<UnitsApi> {
    const api = await BookingApi.open();
    await api.call("fleet.putTenant", { tenantId: "t-m" });
    await api.call("fleet.putTenant", { tenantId: "t-child", parentId: "t-own" });
    return new UnitsApi(api);
  }

  close(): Promise<void> {
    return this.api.close();
  }

  /** One node with GPUs in a pool of its own. */
  async machine(gpus: number): Promise<Machine> {
    const poolId = await this.api.pool(0, 0);
    return this.put(gpus, { poolId });
  }

  /** A node in no pool. */
  async loose(gpus: number): Promise<Machine> {
    return this.put(gpus, {});
  }

  report(name: string, gpus: number): Loose & { gpus: readonly object[] } {
    const { gpus: plain, ...node } = this.api.report(name, gpus) as { gpus: object[] };
    return { ...node, gpus: plain.map((gpu, at) => ({ ...gpu, vfioGroup: String(at) })) };
  }

  private async put(gpus: number, given: { poolId?: string }): Promise<Machine> {
    this.#nodes += 1;
    const nodes = [this.report(`unit-node-${this.#nodes}`, gpus)];
    const put = await this.api.call("fleet.putNodes", { siteId: this.api.siteId, nodes, ...given });
    const nodeId = String(put.nodes[0]?.id);
    const node = await this.api.call("fleet.getNode", { tenantId: "t-own", nodeId });
    return { poolId: given.poolId ?? "", nodeId, units: node.units.map(({ id }) => id) };
  }

  /** The machine's first two units for t-a from now on, unless said otherwise. */
  fence({ nodeId, units }: Machine, given: Loose = {}): Promise<Fence> {
    return this.api.call("unitReservations.create", {
      nodeId,
      unitIds: units.slice(0, 2),
      allowedOrgIds: ["t-a"],
      ...given,
    });
  }

  async key(tenantId: string, role = "tenant-admin", scope?: Loose): Promise<string> {
    const made = await this.api.call("access.createKey", {
      tenantId,
      role,
      name: `${role}-${JSON.stringify(scope ?? null).length}`,
      ...(scope ? { scope } : {}),
    });
    return made.secret;
  }

  /** A create input of the tenant for these units by name. */
  wish({ poolId }: Machine, tenantId: string, named: Named): Loose & { tenantId: string } {
    const { unitIds, ...given } = named;
    const devices = [{ class: "gpu", count: unitIds.length, selector: { unitIds } }];
    return this.api.wish(poolId, unitIds.length, { tenantId, devices, ...given });
  }
}

/** Which one a call is about. */
export const of = ({ nodeId, id: reservationId }: Fence) => ({ nodeId, reservationId });
