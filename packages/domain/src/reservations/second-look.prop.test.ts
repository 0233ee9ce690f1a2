import fc from "fast-check";
import { expect, it } from "vitest";
import type { DeviceLine } from "../model.ts";
import { useFreed } from "./freed.ts";
import { planPreemption } from "./preempt.ts";
import { releaseReservation } from "./release.ts";
import { resolveBooking } from "./request.ts";
import { findRoom } from "./room.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  gpuPool,
  gpus,
  poolConfig,
  turnOn,
} from "./test-kit.ts";
import { createOrWait, serveWaiters } from "./waiters.ts";

const TENANTS = ["t-a", "t-b", "t-c"] as const;

const asking = fc.record({
  kind: fc.constant("ask" as const),
  tenantId: fc.constantFrom(...TENANTS),
  count: fc.integer({ min: 1, max: 4 }),
  size: fc.constantFrom(1, 1, 1, 2, 3),
  spot: fc.boolean(),
  whole: fc.constantFrom(false, false, false, true),
  hours: fc.integer({ min: 1, max: 3 }),
  start: fc.constantFrom(0, 0, 0, 1, 2),
  /** Bits of the second node's GPUs, which it names; 0 for any. */
  exactly: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 15 })),
});
const letting = fc.record({ kind: fc.constant("release" as const), at: fc.nat(50) });
const breaking = fc.record({ kind: fc.constant("node" as const), at: fc.nat(2) });
const passing = fc.record({
  kind: fc.constant("time" as const),
  minutes: fc.integer({ min: 6, max: 90 }),
});
const limiting = fc.record({
  kind: fc.constant("quota" as const),
  tenantId: fc.constantFrom(...TENANTS),
  max: fc.nat(12),
});
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: asking },
    { weight: 5, arbitrary: letting },
    { weight: 1, arbitrary: breaking },
    { weight: 6, arbitrary: passing },
    { weight: 1, arbitrary: limiting },
  ),
  { minLength: 5, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** The line of one who asks for exactly these GPUs. */
function named(
  { state }: TestTurn,
  { exactly, size }: Extract<Step, { kind: "ask" }>,
): { devices?: DeviceLine[] } {
  if (exactly === 0 || size > 1) return {};
  const units = [...state.nodes()][1]?.units ?? [];
  const unitIds = units.flatMap(({ id }, at) => (exactly & (1 << at) ? [id] : []));
  return { devices: [{ class: "gpu", count: unitIds.length, selector: { unitIds } }] };
}

function act(turn: TestTurn, step: Step): void {
  const { state } = turn;
  if (step.kind === "ask") {
    const shape = gpus(step.count, {
      ...named(turn, step),
      ...(step.whole
        ? {
            binding: "node",
            node: { profileId: "p", profileVersion: null },
            devices: [{ class: "node", count: 1 }],
          }
        : {}),
      gang: step.size > 1 ? { size: step.size } : null,
      spot: step.spot,
      durationMs: step.hours * HOUR,
      start: step.start === 0 ? null : NOW + step.start * HOUR,
    });
    const { tenantId } = step;
    const rest = { ancestors: [], projectId: null, leaseSeconds: null, createdBy: "ci" };
    createOrWait(
      turn,
      { tenantId, shape, ...rest },
      { timeoutMs: 900 * HOUR, serverId: "s", key: null },
    );
  } else if (step.kind === "release") {
    const live = [...state.reservations()];
    const one = live[step.at % Math.max(1, live.length)];
    if (one) accepted(releaseReservation(turn, { reservationId: one.id, tenantId: one.tenantId }));
  } else if (step.kind === "node") {
    const before = [...state.nodes()][step.at];
    if (!before) return;
    const next = before.state === "ready" ? "unhealthy" : "ready";
    turn.apply({ kind: "node", before, after: { ...before, state: next } });
  } else if (step.kind === "time") {
    turn.moveTo(turn.now + step.minutes * MINUTE);
    // Time alone may bring room by notice; the line is tried when something is freed, anywhere.
    serveWaiters(turn);
  } else {
    const before = state.config;
    if (!before) return;
    const quotas = before.quotas.map((row) =>
      row.tenantId === step.tenantId ? { ...row, max: step.max } : row,
    );
    turn.apply({ kind: "config", before, after: { ...before, quotas } });
  }
}

/** Those in line for whom there is room, or would be after a notice, by looking at the whole pool. */
function overlooked(turn: TestTurn): string[] {
  const { state, now } = turn;
  return state.waiting.all().flatMap(({ id, tenantId, ancestors, ask }) => {
    const booking = accepted(resolveBooking(state, now, { tenantId, ancestors, shape: ask }));
    const room = findRoom(state, booking);
    if (room.ok) return [id];
    if (room.refusal.code !== "NO_CAPACITY") return [];
    const plan = planPreemption(state, booking.config, { request: booking.request, now });
    return plan && findsQuota(turn, booking, plan.request) ? [id] : [];
  });
}

function findsQuota(
  { state }: TestTurn,
  {
    config,
    charge,
  }: { config: NonNullable<TestTurn["state"]["config"]>; charge: { tenantId: string } },
  {
    start,
    end,
    gang,
    devices,
  }: {
    start: number;
    end: number;
    gang: { size: number } | null;
    devices: readonly { count: number; class: string }[];
  },
): boolean {
  const row = config.quotas.find(({ tenantId }) => tenantId === charge.tenantId);
  const each = devices.reduce((sum, line) => sum + (line.class === "node" ? 4 : line.count), 0);
  const peak = state.usage(charge.tenantId, "gpu")?.peak(start, end) ?? 0;
  return peak + each * (gang?.size ?? 1) <= (row?.max ?? 0);
}

const ask = (parts: {
  count?: number;
  size?: 1 | 2;
  spot?: boolean;
  whole?: boolean;
  exactly?: number;
}): Step => ({
  kind: "ask",
  tenantId: "t-a",
  count: parts.count ?? 1,
  size: parts.size ?? 1,
  spot: parts.spot ?? false,
  whole: parts.whole ?? false,
  hours: 1,
  start: 0,
  exactly: parts.exactly ?? 0,
});

/** Two GPUs are named, of which a regular booking holds one and a spot booking the other; the first is released. */
const NAMED: Step[] = [
  ask({ exactly: 1 }),
  ask({ exactly: 2, spot: true }),
  ask({ exactly: 3 }),
  { kind: "release", at: 0 },
];

/** All but one GPU of a node are a spot booking's; the last is a regular one's, which ends in an hour and a half. */
const ENDS_MEANWHILE: Step[] = [
  { ...ask({ exactly: 8 }), hours: 1.5 } as Step,
  { ...ask({ exactly: 7, spot: true }), hours: 20 } as Step,
  ask({ exactly: 15 }),
  { kind: "time", minutes: 40 },
];

/** A gang counts on room that comes when a notice ends; then a new spot booking takes it. */
const TAKEN_FROM_UNDER: Step[] = [
  ask({ size: 2, spot: true, whole: true }),
  ask({}),
  ask({ whole: true }),
  ask({}),
  ask({ count: 3, size: 2 }),
  { kind: "release", at: 3 },
  ask({ spot: true }),
];

/** The same gang counts on such room; then one who waits behind it is served with a part of that. */
const TAKEN_FROM_BEHIND: Step[] = [
  { ...ask({ count: 3, spot: true }), size: 3 } as Step,
  { kind: "node", at: 0 },
  ask({ count: 2 }),
  ask({ count: 3, size: 2 }),
  { ...ask({ size: 2, spot: true, whole: true }), start: 1 } as Step,
  { kind: "release", at: 1 },
];

it("nobody in line is passed over for whom there is room, however little of the pool was looked at", () => {
  fc.assert(
    fc.property(steps, (history) => {
      const turn = turnOn(
        gpuPool(3, 4, poolConfig({ policy: { spot: { noticeSeconds: 3_600 } } })),
      );
      for (const step of history) {
        act(turn, step);
        useFreed(turn);
        expect(overlooked(turn)).toEqual([]);
      }
    }),
    {
      numRuns: 300,
      examples: [[TAKEN_FROM_UNDER], [TAKEN_FROM_BEHIND], [NAMED], [ENDS_MEANWHILE]],
    },
  );
});
