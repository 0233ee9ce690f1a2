/** Reports, layouts, bookings and their ends in any order: what always holds of a node of a shared pool. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { arrangeByAny } from "../mig/layout.ts";
import { tablesOf } from "../mig/table.ts";
import { NO_SCALARS, type Node, type PoolPolicy, type Unit } from "../model.ts";
import { updatePool } from "../pools/update.ts";
import { releaseReservation } from "../reservations/release.ts";
import {
  NOW,
  HOUR,
  type TestTurn,
  booking,
  derive,
  gpuPool,
  turnOn,
} from "../reservations/test-kit.ts";
import { recountRollup } from "../rollup/recount.ts";
import { PoolState } from "../state/pool-state.ts";
import { nodeIdOf, putNodes } from "./put-nodes.ts";

const MODEL = "A100-80";
const SITE = "site_00000000000000000000000000";
const ID = nodeIdOf(SITE, "a", derive);
const LAYOUTS = [["3g.40gb", "4g.40gb"], ["7g.80gb"], ["1g.10gb", "1g.10gb", "3g.40gb"], null];

type Step =
  | { readonly kind: "report"; readonly gpus: readonly number[] }
  | { readonly kind: "policy"; readonly layout: number; readonly replicas: number }
  | { readonly kind: "book"; readonly units: number }
  | { readonly kind: "release"; readonly which: number };

const stepArb: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("report" as const), gpus: fc.subarray([0, 1, 2]) }),
  fc.record({
    kind: fc.constant("policy" as const),
    layout: fc.nat({ max: LAYOUTS.length - 1 }),
    replicas: fc.integer({ min: 2, max: 4 }),
  }),
  fc.record({ kind: fc.constant("book" as const), units: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant("release" as const), which: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constant("release" as const), which: fc.nat({ max: 9 }) }),
);

function take(turn: TestTurn, step: Step, n: number): void {
  const node = turn.state.node(ID);
  if (step.kind === "report") {
    const gpus = step.gpus.map((index) => ({ uuid: `G${index}`, index, model: MODEL }));
    const report = { name: "a", gpus, disks: [{ name: "d", sizeGiB: 1 }] };
    putNodes(turn, { siteId: SITE, ownerId: "t-own", nodes: [{ id: ID, report }] });
  } else if (step.kind === "policy")
    updatePool(turn, { tenantId: "t-own", policy: policyOf(step.layout, step.replicas) });
  else if (step.kind === "book") book(turn, node, { bits: step.units, n });
  else {
    const live = [...turn.state.reservations()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const chosen = live[step.which % Math.max(1, live.length)];
    if (chosen) releaseReservation(turn, { reservationId: chosen.id, tenantId: "t-a" });
  }
}

function policyOf(layout: number, replicas: number): PoolPolicy {
  const profiles = LAYOUTS[layout];
  return { ...(profiles ? { migLayout: { [MODEL]: profiles } } : {}), sharing: { replicas } };
}

function book(turn: TestTurn, node: Node | undefined, ask: { bits: number; n: number }): void {
  const free = (node?.units ?? []).filter(
    ({ id, removed }, i) =>
      ask.bits & (1 << i) && !removed && turn.state.bookingsOf(id).length === 0,
  );
  if (free.length === 0) return;
  const unitIds = free.map(({ id }) => id);
  const members = [{ index: 0, nodeId: ID, unitIds, resources: NO_SCALARS }];
  const id = `rsv_${String(ask.n).padStart(26, "0")}` as const;
  const after = booking({ id, start: NOW, end: NOW + HOUR, members });
  turn.apply({ kind: "reservation", before: null, after });
}

/** What the policy makes of the GPU, worked out here once more. */
function wanted(turn: TestTurn, gpu: Unit): string[] {
  const { config } = turn.state;
  if (config?.sharing === "timeslice")
    return Array.from(
      { length: config.policy.sharing?.replicas ?? 10 },
      (_, i) => `${gpu.gpuUuid}:${i}`,
    );
  const layout = config?.policy.migLayout?.[MODEL] ?? [];
  const found = arrangeByAny(tablesOf(MODEL), layout);
  const instances = found?.fits ? found.instances : [];
  return instances.map(({ profile, start }) => `${gpu.gpuUuid}:${profile}@${start}`);
}

const partsOf = (node: Node): Unit[] => node.units.filter((unit) => unit.parentUnitId !== null);
const nameOf = (unit: Unit): string =>
  `${unit.gpuUuid}:${unit.profile === null ? unit.index % 48 : `${unit.profile}@${unit.placement}`}`;

function check(turn: TestTurn, before: Node | undefined): void {
  const node = turn.state.node(ID);
  if (!node) return;
  const booked = (unit: Unit): boolean => turn.state.bookingsOf(unit.id).length > 0;
  const parts = partsOf(node);
  const there = node.gpus.filter(({ removed }) => !removed);
  // Each part is of a GPU of the node, and is missing when its GPU is; a missing one is booked.
  for (const part of parts) {
    const gpu = node.gpus.find(({ id }) => id === part.parentUnitId);
    expect(part.removed).toBe(gpu?.removed);
  }
  for (const unit of node.units) if (unit.removed) expect(booked(unit)).toBe(true);
  for (const gpu of node.gpus)
    if (gpu.removed) expect(parts.some(({ parentUnitId }) => parentUnitId === gpu.id)).toBe(true);
  if (!parts.some(booked))
    expect(parts.map(nameOf)).toEqual(there.flatMap((gpu) => wanted(turn, gpu)));
  // While one is booked, GPUs that were there and are stay cut as they were.
  else if (before && partsOf(before).some(booked))
    for (const gpu of before.gpus.filter(({ removed }) => !removed)) {
      if (!there.some(({ id }) => id === gpu.id)) continue;
      const cut = (of: Node): string[] =>
        partsOf(of)
          .filter(({ parentUnitId }) => parentUnitId === gpu.id)
          .map(({ id }) => id);
      expect(cut(node)).toEqual(cut(before));
    }
  const { config } = turn.state;
  const reservations = [...turn.state.reservations()];
  const snapshot = { ...gpuPool(0, 0), config, nodes: [node], reservations };
  expect(turn.state.rollup()).toEqual(recountRollup(snapshot, turn.now));
  expect(turn.state.pendingLayouts()).toEqual([]);
  expect(PoolState.load(snapshot).pendingLayouts()).toEqual([]);
}

test("a node of a shared pool is cut as the policy says when it is idle, and never while a part is booked", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("mig" as const, "timeslice" as const),
      fc.array(stepArb, { maxLength: 14 }),
      (sharing, steps) => {
        const turn = turnOn(gpuPool(0, 0, { sharing, policy: policyOf(0, 2) }));
        take(turn, { kind: "report", gpus: [0, 1] }, 0);
        const first = turn.state.node(ID);
        steps.forEach((step, i) => {
          const before = turn.state.node(ID);
          take(turn, step, i + 1);
          check(turn, before);
        });
        const made = turn.changes.splice(1);
        for (const change of made.toReversed()) turn.state.revert(change);
        expect(turn.state.node(ID)).toEqual(first);
      },
    ),
    { numRuns: 400 },
  );
});
