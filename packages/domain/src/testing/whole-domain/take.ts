/** Does one step to two pools, whoever keeps them. */
import { cancelMaintenance, scheduleMaintenance } from "../../fleet/maintenance.ts";
import { moveNode, removeNode } from "../../fleet/move-node.ts";
import { putNodes } from "../../fleet/put-nodes.ts";
import { setNodeState, setUnitHealth } from "../../fleet/set-state.ts";
import type { NodeId, ReservationId, UnitId } from "../../ids.ts";
import type { UnitReservation } from "../../claims.ts";
import {
  type DeviceLine,
  NO_SCALARS,
  type Node,
  type PoolSnapshot,
  type Reservation,
} from "../../model.ts";
import { offerPool } from "../../pools/offer.ts";
import { unofferPool } from "../../pools/unoffer.ts";
import { updatePool } from "../../pools/update.ts";
import { type Result, ok, refuse } from "../../refusal.ts";
import type { CreateAsk } from "../../reservations/create.ts";
import { extendReservation } from "../../reservations/extend.ts";
import { releaseReservation } from "../../reservations/release.ts";
import { renewReservation } from "../../reservations/renew.ts";
import { terminateReservation } from "../../reservations/terminate.ts";
import { createOrWait, stopWaiting } from "../../reservations/waiters.ts";
import { createUnitReservation } from "../../unit-reservations/create.ts";
import { cancelUnitReservation } from "../../unit-reservations/end.ts";
import { reclaimUnits } from "../../unit-reservations/reclaim.ts";
import { releaseUnits } from "../../unit-reservations/release.ts";
import { reaffirmUnitReservation } from "../../unit-reservations/review.ts";
import { MINUTE } from "../../reservations/test-kit.ts";
import type { Outage } from "../../reservations/grace.ts";
import type { Turn } from "../../turn.ts";
import { type NodeDraw, SITE, nodeIdAt, policyOf, reportOf } from "./start.ts";
import type { CreateStep, Step } from "./steps.ts";

/** What a command leaves for those who look at the batch. */
export interface Remarks {
  /** A request that found no room at the state as it is. */
  lacksRoom: CreateAsk | null;
  /** Whose caller ended its wait. */
  wentAway: ReservationId | null;
}

type HostTurn = Turn & Remarks;
export type HostCommand = (turn: HostTurn) => Result<unknown>;

export interface HostGate {
  readonly rows: PoolSnapshot;
}

/** Two pools and their clock; `Done` is whatever a batch becomes there. */
export interface Host<Done, Gate extends HostGate> {
  now: number;
  heldSince: number | null;
  readonly gates: readonly [Gate, Gate];
  readonly gone: Set<string>;
  /** What nodes were when they were removed. */
  readonly removed: Map<NodeId, Node>;
  readonly draws: readonly NodeDraw[];
  gateOf(id: NodeId): Gate | undefined;
  submit(gate: Gate, command: HostCommand, outages?: readonly Outage[]): Done;
  move(from: Gate, to: Gate, command: (from: Turn, to: Turn) => Result<unknown>): Done[];
}

type AnyHost = Host<unknown, HostGate>;
type Of<D extends Step["do"]> = Extract<Step, { do: D }>;
type Pieces = {
  readonly [D in Step["do"]]: (world: AnyHost, step: Step & { do: D }) => unknown[];
};

export const minutes = (count: number): number => Math.round(count * MINUTE);

/** The batches that it made, in order. */
export function take<Done, Gate extends HostGate>(host: Host<Done, Gate>, step: Step): Done[] {
  const piece = PIECES[step.do] as unknown as (host: Host<Done, Gate>, step: Step) => Done[];
  return piece(host, step);
}

const nothing = refuse({ code: "NOT_FOUND" });
export const ancestorsOf = (tenant: string): string[] => (tenant === "t-d" ? ["t-a"] : []);

const PIECES: Pieces = {
  create: (world, step) => {
    const gate = world.gates[step.pool] as HostGate;
    const ask = askOf(world, gate, step);
    const wait = {
      timeoutMs: minutes(step.waits),
      serverId: serverNow(world, step.server),
      key: null,
    };
    return [
      world.submit(gate, (turn) => {
        const made = createOrWait(turn, ask, wait);
        const lacksRoom = made.ok
          ? made.value.kind === "waits"
          : made.refusal.code === "NO_CAPACITY";
        if (lacksRoom) turn.lacksRoom = ask;
        return made;
      }),
    ];
  },
  release: (world, step) => onOne(world, step, (turn, r) => releaseReservation(turn, of(r))),
  renew: (world, step) => onOne(world, step, (turn, r) => renewReservation(turn, of(r))),
  terminate: (world, step) =>
    onOne(world, step, (turn, r) => terminateReservation(turn, { ...of(r), reason: "so" })),
  extend: (world, step) =>
    onOne(world, step, (turn, r) => {
      const { tenantId } = r;
      const end = r.end + minutes((step as Of<"extend">).by);
      return extendReservation(turn, { ...of(r), ancestors: ancestorsOf(tenantId), end });
    }),
  pass: (world, step) => {
    world.now += minutes(step.minutes);
    return world.gates.map((gate) => world.submit(gate, () => nothing));
  },
  outage: (world, step) => {
    const from = world.now;
    world.now += minutes(step.minutes);
    return world.gates.map((gate) => world.submit(gate, () => nothing, [{ from, to: world.now }]));
  },
  distrust: (world) => {
    const from = world.heldSince;
    world.heldSince = from === null ? world.now : null;
    const outages = from === null ? [] : [{ from, to: world.now }];
    return world.gates.map((gate) => world.submit(gate, () => nothing, outages));
  },
  state: (world, step) =>
    onNode(world, step.node, (turn, on) => setNodeState(turn, { ...on, ...step })),
  health: (world, { node, unit, healthy }) =>
    onNode(world, node, (turn, on) => {
      const has = turn.state.node(on.nodeId);
      const all = [...(has?.units ?? []), ...(has?.gpus ?? [])];
      const unitId = all[unit % Math.max(1, all.length)]?.id;
      return unitId ? setUnitHealth(turn, { ...on, unitId, healthy }) : nothing;
    }),
  maintain: (world, { node, ahead, lasts }) =>
    onNode(world, node, (turn, on) => {
      const from = turn.now + minutes(ahead);
      return scheduleMaintenance(turn, { ...on, from, to: from + minutes(lasts) });
    }),
  callOff: (world, { node }) =>
    onNode(world, node, (turn, on) => {
      const [window] = turn.state.node(on.nodeId)?.maintenance ?? [];
      return window ? cancelMaintenance(turn, { ...on, maintenanceId: window.id }) : nothing;
    }),
  move: (world, { node }) => {
    const nodeId = nodeIdAt(node);
    const from = world.gateOf(nodeId);
    if (!from) return [];
    const to = world.gates.find((gate) => gate !== from) as HostGate;
    return world.move(from, to, (a, b) => moveNode(a, b, { nodeId }));
  },
  remove: (world, { node }) =>
    onNode(world, node, (turn, on) => {
      const removed = removeNode(turn, on);
      if (removed.ok) world.removed.set(on.nodeId, removed.value);
      return removed;
    }),
  report,
  offer: (world, { pool, to: toTenantId, max, priority }) => {
    const quota = { gpu: max, "gpu.mig": max, "gpu.slot": max };
    const ask = { toTenantId, quota, priority, includeDescendants: toTenantId === "t-a" };
    return onPool(world, pool, (turn) => offerPool(turn, { tenantId: "t-own", ...ask }));
  },
  unoffer: (world, { pool, to: toTenantId }) =>
    onPool(world, pool, (turn) => unofferPool(turn, { tenantId: "t-own", toTenantId })),
  policy: (world, { pool, like }) =>
    onPool(world, pool, (turn) => updatePool(turn, { tenantId: "t-own", policy: policyOf(like) })),
  setAside: (world, { node, units, ahead, lasts, audience }) =>
    onNode(world, node, (turn, on) => {
      const startsAt = turn.now + minutes(ahead);
      return createUnitReservation(turn, {
        ...on,
        unitIds: unitsAt(world.gateOf(on.nodeId), node, units),
        allowedOrgIds: [...audience, "platform"],
        managingOrgIds: [],
        startsAt,
        endsAt: lasts === null ? null : startsAt + minutes(lasts),
        reason: null,
        contractRef: null,
        createdBy: "platform/ops",
      });
    }),
  toMarket: (world, step) =>
    onTerm(world, step, (turn, on) => releaseUnits(turn, { ...on, ...named(on.row, step.units) })),
  reclaim: (world, step) =>
    onTerm(world, step, (turn, on) => reclaimUnits(turn, { ...on, ...named(on.row, step.units) })),
  cancelTerm: (world, step) => onTerm(world, step, (turn, on) => cancelUnitReservation(turn, on)),
  reaffirm: (world, step) => onTerm(world, step, (turn, on) => reaffirmUnitReservation(turn, on)),
  stopWaiting: (world, { which }) => {
    const waiters = world.gates.flatMap((gate) =>
      gate.rows.waiters.map((waiter) => ({ gate, waiter })),
    );
    const one = waiters[which % Math.max(1, waiters.length)];
    if (!one) return [];
    return [
      world.submit(one.gate, (turn) => {
        turn.wentAway = one.waiter.id;
        return ok(stopWaiting(turn, one.waiter));
      }),
    ];
  },
  server: (world, { id }) => {
    world.gone.add(serverNow(world, id));
    return [];
  },
};

/** One that has gone is replaced: its callers are gone with it. */
function serverNow({ gone }: AnyHost, id: string): string {
  return gone.has(id) ? `${id} after ${gone.size}` : id;
}

const of = ({ id: reservationId, tenantId }: Reservation) => ({ reservationId, tenantId });

function onOne(
  world: AnyHost,
  { which }: { readonly which: number },
  command: (turn: HostTurn, r: Reservation) => Result<unknown>,
): unknown[] {
  const live = world.gates
    .flatMap((gate) => gate.rows.reservations.map((r) => ({ gate, r })))
    .toSorted((a, b) => (a.r.id < b.r.id ? -1 : 1));
  const one = live[which % Math.max(1, live.length)];
  return one ? [world.submit(one.gate, (turn) => command(turn, one.r))] : [];
}

function onNode(
  world: AnyHost,
  n: number,
  command: (turn: HostTurn, on: { nodeId: ReturnType<typeof nodeIdAt> }) => Result<unknown>,
): unknown[] {
  const nodeId = nodeIdAt(n);
  const gate = world.gateOf(nodeId);
  return gate ? [world.submit(gate, (turn) => command(turn, { nodeId }))] : [];
}

function onPool(
  world: AnyHost,
  pool: number,
  command: (turn: HostTurn) => Result<unknown>,
): unknown[] {
  return [world.submit(world.gates[pool] as HostGate, command)];
}

function onTerm(
  world: AnyHost,
  { which }: { readonly which: number },
  command: (
    turn: HostTurn,
    on: {
      nodeId: UnitReservation["nodeId"];
      unitReservationId: UnitReservation["id"];
      row: UnitReservation;
    },
  ) => Result<unknown>,
): unknown[] {
  const all = world.gates.flatMap((gate) =>
    gate.rows.unitReservations.map((row) => ({ gate, row })),
  );
  const one = all[which % Math.max(1, all.length)];
  if (!one) return [];
  const { row } = one;
  const on = { nodeId: row.nodeId, unitReservationId: row.id, row };
  return [world.submit(one.gate, (turn) => command(turn, on))];
}

function named({ unitIds }: UnitReservation, bits: number): { unitIds?: UnitId[] } {
  const some = unitIds.filter((_, at) => bits & (1 << at));
  return some.length > 0 ? { unitIds: some } : {};
}

function report(world: AnyHost, { node: n, pool, like }: Of<"report">): unknown[] {
  const draw = world.draws[n];
  if (!draw) return [];
  const id = nodeIdAt(n);
  const here = world.gateOf(id);
  const gate = here ?? (world.gates[pool] as HostGate);
  const node = { id, member: here !== undefined, was: world.removed.get(id) };
  const nodes = [{ ...node, report: reportOf(n, { ...like, gpus: draw.gpus }) }];
  const ask = { siteId: SITE, ownerId: "t-own", nodes } as const;
  return [
    world.submit(gate, (turn) => {
      const done = putNodes(turn, ask);
      return done.ok && done.value === null ? nothing : done;
    }),
  ];
}

function unitsAt(gate: HostGate | undefined, n: number, bits: number): UnitId[] {
  const node = gate?.rows.nodes.find(({ id }) => id === nodeIdAt(n));
  const units = (node?.units ?? []).filter((unit) => unit.class.startsWith("gpu"));
  return units.filter((_, at) => bits & (1 << at)).map(({ id }) => id);
}

const CLASSES = {
  exclusive: "gpu",
  mig: "gpu.mig",
  timeslice: "gpu.slot",
  mps: "gpu.slot",
} as const;

export function askOf(world: Pick<AnyHost, "now">, gate: HostGate, step: CreateStep): CreateAsk {
  const { tenant, form, count, size, exactly, spot, leaseSeconds, nvlink, vcpu } = step;
  const ofNodes = form === "leases" || form === "leaseGang";
  const isGang = form !== "hold" && form !== "leases";
  const kind = CLASSES[gate.rows.config?.sharing ?? "exclusive"];
  const unitIds = exactly && !isGang && !ofNodes ? unitsAt(gate, exactly.node, exactly.units) : [];
  const line: DeviceLine = ofNodes
    ? { class: "node", count: isGang ? 1 : Math.min(count, 2) }
    : unitIds.length > 0
      ? { class: kind, count: unitIds.length, selector: { unitIds } }
      : { class: kind, count };
  const vfs: DeviceLine[] = step.vfs > 0 && !ofNodes ? [{ class: "nic.vf", count: step.vfs }] : [];
  const key = form === "keyed" ? { topologyKey: "rack" } : {};
  return {
    tenantId: tenant,
    ancestors: ancestorsOf(tenant),
    projectId: null,
    leaseSeconds,
    createdBy: `${tenant}/ci`,
    shape: {
      binding: ofNodes ? "node" : "hold",
      gang: isGang ? { size, ...key } : null,
      node: ofNodes ? { profileId: "p", profileVersion: null } : null,
      spot,
      devices: [line, ...vfs],
      topology: nvlink && !ofNodes ? "nvlink-all" : "any",
      resources: ofNodes ? NO_SCALARS : { ...NO_SCALARS, vcpu },
      start: step.ahead === 0 ? null : world.now + minutes(step.ahead),
      durationMs: minutes(step.lasts),
    },
  };
}
