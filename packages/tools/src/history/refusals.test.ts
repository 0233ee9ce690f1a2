import { expect, it } from "vitest";
import { betweenEvents } from "./between.ts";
import { checkQuotaExceeded } from "./refusals.ts";
import type { ReservationRow } from "./rows.ts";
import type { EventRow, Operation } from "./types.ts";
import type { View } from "./view.ts";

const SECOND = 1_000;

/** A booking of one GPU, that nothing was written of since. */
const booking = (start: number, end: number): ReservationRow =>
  ({
    id: "rsv_1",
    tenant_id: "a",
    charged_tenant_id: "a",
    state: "scheduled",
    binding: "hold",
    start,
    end,
    members: [
      {
        index: 0,
        nodeId: "n",
        unitIds: ["u"],
        resources: { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 },
      },
    ],
  }) as unknown as ReservationRow;

const view = (at: number, row: ReservationRow): View =>
  ({
    at,
    pool: { tenant_id: "a", policy: {} },
    offers: [],
    quotas: [{ tenant_id: "a", resource: "gpu", max: 1 }],
    units: new Map([["u", { id: "u", class: "gpu", parent_unit_id: null }]]),
    reservations: [row],
  }) as unknown as View;

/** A refusal for want of quota that came after `took` milliseconds, of one GPU for a second from then on. */
const refusal = (endedAt: number, took: number): Operation =>
  ({
    n: 1,
    tenantId: "a",
    method: "reservations.create",
    input: { devices: [{ class: "gpu", count: 1 }], duration: SECOND },
    t0: 0,
    t1: took,
    endedAt,
    seq: 7,
    body: { details: { resource: "gpu", requested: 1 } },
  }) as unknown as Operation;

const found = (op: Operation, at: View): string[] => {
  const faults: string[] = [];
  checkQuotaExceeded(
    op,
    () => [at],
    (kind) => faults.push(kind),
  );
  return faults;
};

it("a booking that came and went while nothing was written may have been in the way", () => {
  const row = booking(60 * SECOND, 61 * SECOND);
  expect(found(refusal(61 * SECOND + 20, 40), view(SECOND, row))).toEqual([]);
});

it("one that was over before the call began was not", () => {
  const row = booking(60 * SECOND, 61 * SECOND);
  expect(found(refusal(61 * SECOND + 60, 40), view(SECOND, row))).toEqual(["COULD_HAVE_PAID"]);
});

it("an extension is paid by whoever pays for the booking, though the pool is offered to it no more", () => {
  const row = booking(SECOND, 61 * SECOND);
  const beside = { ...booking(SECOND, 90 * SECOND), id: "rsv_2" };
  const refused = {
    ...refusal(2 * SECOND, 0),
    method: "reservations.extend",
    input: { reservationId: "rsv_1", end: 80 * SECOND },
  } as Operation;
  const unoffered = (reservations: ReservationRow[]): View =>
    ({
      ...view(SECOND, row),
      pool: { tenant_id: "owner", policy: {} },
      offers: [{ tenant_id: "above", include_descendants: true }],
      reservations,
    }) as unknown as View;
  expect(found(refused, unoffered([row, beside]))).toEqual([]);
  expect(found(refused, unoffered([row]))).toEqual(["COULD_HAVE_PAID"]);
});

it("what a refusal says was asked for is what the call asks for", () => {
  const ask = (requested: number): Operation => ({
    ...refusal(2 * SECOND, 0),
    body: { details: { resource: "gpu", requested } },
  });
  const full = view(SECOND, booking(SECOND, 61 * SECOND));
  expect(found(ask(1), full)).toEqual([]);
  expect(found(ask(5), full)).toEqual(["COULD_HAVE_PAID"]);
});

it("of an offer that came and went in one batch the refusal may be right", () => {
  const event = (idx: number, type: string): EventRow =>
    ({
      idx,
      type,
      reservationId: null,
      data: { toTenantId: "a", quota: { gpu: 1 }, includeDescendants: false },
    }) as unknown as EventRow;
  const events = [event(0, "pool.offered"), event(1, "pool.unoffered")];
  const none = {
    ...view(SECOND, booking(SECOND, 61 * SECOND)),
    pool: { tenant_id: "owner", policy: {} },
    quotas: [],
    reservations: [],
  } as unknown as View;
  const asked = {
    ...refusal(2 * SECOND, 0),
    input: { devices: [{ class: "gpu", count: 2 }], duration: SECOND },
    body: { details: { resource: "gpu", requested: 2 } },
  } as Operation;
  const moments = betweenEvents(none, none, { events, told: events, touched: [] });
  const faults: string[] = [];
  checkQuotaExceeded(
    asked,
    () => moments,
    (kind) => faults.push(kind),
  );
  expect(faults).toEqual([]);
  expect(found(asked, none)).toEqual(["COULD_HAVE_PAID"]);
});
