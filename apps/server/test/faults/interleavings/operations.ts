/** The operations that are set against each other: most of them on one and the same booking. */
import { type Hand, type Outcome, type Plot, GUEST, OWNER, done, report } from "./world.ts";

export interface Operation {
  readonly name: string;
  /** It is no write of a pool's, so it passes none of the points. */
  readonly ungated?: boolean;
  prepare?(hand: Hand, plot: Plot): Promise<void>;
  /** What is booked for it, once everything is prepared. */
  book?(hand: Hand, plot: Plot): Promise<void>;
  run(hand: Hand, plot: Plot, side: "a" | "b"): Promise<Outcome>;
}

/** How much later the operations run than what they work on was made. */
export const LATER_MS = 60_000;
const HOUR = 3_600_000;
const ONE = [{ class: "gpu", count: 1 }];

/** The booking that most are about: of one GPU of the first node, with a lease. */
export async function bookTheOne(hand: Hand, plot: Plot, names: readonly string[]): Promise<void> {
  const made = await done(
    hand.call("reservations.create", {
      ...asking(plot, "the-one"),
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [unit(plot, "n0/0")] } }],
      duration: names.includes("complete") ? "1m" : "1h",
      leaseSeconds: names.includes("expire") ? 30 : 600,
    }),
  );
  plot.made.set("one", String(made["id"]));
}

export const OPERATIONS: readonly Operation[] = [
  { name: "create", run: (hand, plot, side) => create(hand, plot, side, { devices: ONE }) },
  {
    name: "gang create",
    run: (hand, plot, side) =>
      create(hand, plot, side, { devices: [{ class: "gpu", count: 2 }], gang: { size: 2 } }),
  },
  { name: "release", run: (hand, plot) => hand.call("reservations.release", one(plot)) },
  { name: "renew", run: (hand, plot) => hand.call("reservations.renew", one(plot)) },
  {
    name: "extend",
    run: (hand, plot) =>
      hand.call("reservations.extend", { ...one(plot), end: plot.madeAt + 2 * HOUR }),
  },
  { name: "expire", run: (hand, plot) => hand.settle(plot.poolId) },
  { name: "complete", run: (hand, plot) => hand.settle(plot.poolId) },
  {
    name: "preempt",
    book: spotOnTheThird,
    run: (hand, plot, side) => create(hand, plot, side, { devices: [{ class: "gpu", count: 8 }] }),
  },
  {
    name: "reclaim",
    async prepare(hand, plot) {
      const nodeId = node(plot, "n2");
      const unitIds = [unit(plot, "n2/0")];
      const set = await done(
        hand.call("unitReservations.create", { nodeId, unitIds, allowedOrgIds: [GUEST] }),
      );
      const ref = { nodeId, reservationId: String(set["id"]) };
      await done(hand.call("unitReservations.release", { ...ref, unitIds }));
      plot.made.set("fence", ref.reservationId);
    },
    book: spotOnTheThird,
    run: (hand, plot) =>
      hand.call("unitReservations.reclaim", {
        nodeId: node(plot, "n2"),
        reservationId: plot.made.get("fence") ?? "",
        unitIds: [unit(plot, "n2/0")],
      }),
  },
  {
    name: "heal",
    run: (hand, plot) =>
      hand.call("fleet.setUnitHealth", { unitId: unit(plot, "n0/0"), healthy: false }),
  },
  { name: "archive", run: (hand, plot) => hand.call("pools.archive", own(plot)) },
  { name: "offer-resize", run: (hand, plot) => offer(hand, plot, 2) },
  {
    name: "unoffer",
    run: (hand, plot) => hand.call("pools.unoffer", { ...own(plot), toTenantId: GUEST }),
  },
  {
    name: "assignNode",
    run: (hand, plot) => hand.call("fleet.assignNode", { nodeId: node(plot, "n1"), poolId: null }),
  },
  {
    name: "setNodeState",
    run: (hand, plot) =>
      hand.call("fleet.setNodeState", { nodeId: node(plot, "n0"), state: "unreachable" }),
  },
  {
    name: "unitReservation.create",
    run: (hand, plot) =>
      hand.call("unitReservations.create", {
        nodeId: node(plot, "n0"),
        unitIds: [unit(plot, "n0/1")],
        allowedOrgIds: [OWNER],
      }),
  },
  {
    name: "reaffirm",
    async prepare(hand, plot) {
      const nodeId = node(plot, "n1");
      const set = await done(
        hand.call("unitReservations.create", {
          nodeId,
          unitIds: [unit(plot, "n1/1")],
          allowedOrgIds: [OWNER],
        }),
      );
      plot.made.set("doubtful", String(set["id"]));
      // The GPU before it is gone, and it has its index: somebody has to look.
      const nodes = [report(plot.name, "n1", 5, [0])];
      await done(hand.call("fleet.putNodes", { siteId: plot.siteId, nodes }));
    },
    run: (hand, plot) =>
      hand.call("unitReservations.reaffirm", {
        nodeId: node(plot, "n1"),
        reservationId: plot.made.get("doubtful") ?? "",
      }),
  },
  {
    name: "putTenant-move",
    ungated: true,
    run: (hand, plot) => hand.call("fleet.putTenant", { tenantId: plot.tenantId, parentId: OWNER }),
  },
];

async function spotOnTheThird(hand: Hand, plot: Plot): Promise<void> {
  if (plot.made.has("spot")) return;
  const made = await done(
    hand.call("reservations.create", {
      ...asking(plot, "spot"),
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [unit(plot, "n2/0")] } }],
      duration: "1h",
      spot: true,
    }),
  );
  plot.made.set("spot", String(made["id"]));
}

const create = (hand: Hand, plot: Plot, side: string, ask: object): Promise<Outcome> =>
  hand.call("reservations.create", { ...asking(plot, side), duration: "2h", ...ask });

const offer = (hand: Hand, plot: Plot, gpu: number): Promise<Outcome> =>
  hand.call("pools.offer", {
    ...own(plot),
    toTenantId: GUEST,
    includeDescendants: true,
    quota: { gpu },
  });

const asking = ({ tenantId, poolId, name }: Plot, key: string) => ({
  tenantId,
  poolId,
  idempotencyKey: `${name}-${key}`,
});
const own = ({ poolId }: Plot) => ({ tenantId: OWNER, poolId });
const one = ({ tenantId, made }: Plot) => ({ tenantId, reservationId: made.get("one") ?? "" });
const node = ({ nodeIds }: Plot, name: string): string => nodeIds.get(name) ?? "";
const unit = ({ unitIds }: Plot, name: string): string => unitIds.get(name) ?? "";
