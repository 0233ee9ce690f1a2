/** Whether a refusal was right: at no moment in which it may have been decided was there room, or quota. */
import { parseDuration } from "@berth/domain";
import { type FitRequest, fits, without } from "./model.ts";
import { type ReservationRow, type Span, meets } from "./rows.ts";
import type { Json, Operation, Report } from "./types.ts";
import { type View, chargeOf, peak, quotaMax, usage } from "./view.ts";

const NOTICE_SECONDS = 120;
const ZERO = { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 };

/** @param moments the pool as it was when the refusal may have been decided, each */
export function checkNoCapacity(op: Operation, moments: () => View[], report: Report): boolean {
  if (op.method !== "reservations.create" || waited(op)) return false;
  const right = moments().some((view) => asked(op, view).some((then) => noRoom(view, then)));
  if (!right)
    report("COULD_HAVE_FIT", `operation ${op.n} at ${String(op.seq)}: ${brief(op.input)}`);
  return true;
}

/** Refused when its time was over, whatever there is room for now. */
function waited({ input }: Operation): boolean {
  return ((input["wait"] as { timeoutMs?: number } | undefined)?.timeoutMs ?? 0) > 0;
}

/** No room, and none by the end of a notice that somebody could have been given. */
function noRoom(view: View, { request, now }: Asked): boolean {
  if (fits(view, request)) return false;
  if (request.spot) return true;
  const later = afterNotice(view, { request, now });
  if (later.start !== request.start && fits(view, later)) return true;
  const victims = view.reservations.filter(
    (row) => row.spot && row.state !== "preempting" && meets(row, later),
  );
  return victims.length === 0 || !fits(without(view, victims, later.start), later);
}

function afterNotice(view: View, { request, now }: Asked): FitRequest {
  const spot = view.pool?.policy["spot"] as { noticeSeconds?: number } | undefined;
  const start = Math.max(request.start, now + (spot?.noticeSeconds ?? NOTICE_SECONDS) * 1_000);
  return { ...request, start, end: start + request.end - request.start };
}

interface Asked {
  /** When it was decided; nothing need have been written then, so the pool's own time may be an earlier one. */
  readonly now: number;
  readonly request: FitRequest;
}

/** The request at each instant at which it may have been decided with another outcome than at the ones beside it. */
function asked(op: Operation, view: View): Asked[] {
  return [...instantsOf(op, view)].map((now) => ({ now, request: requestOf(op, now) }));
}

/**
 * The earliest, the latest, and in between each first and last millisecond of a booking: one that came and went
 * while nothing was written is in no window that begins at either end.
 */
function instantsOf({ t0, t1, endedAt }: Operation, { at, reservations }: View): Set<number> {
  const [began, latest] = [Math.max(at, endedAt - (t1 - t0)), Math.max(at, endedAt)];
  const between = reservations
    .flatMap(({ start, end }) => [start, end - 1])
    .filter((instant) => instant >= began && instant <= latest);
  return new Set([at, latest, ...between]);
}

export function requestOf(
  { input, tenantId }: Pick<Operation, "input" | "tenantId">,
  now: number,
): FitRequest {
  const duration = parseDuration(input["duration"] as number | string);
  const length = duration.ok ? duration.ms : 0;
  const start = Math.max(now, Number(input["start"] ?? now));
  return {
    tenantId,
    binding: (input["binding"] ?? "hold") as FitRequest["binding"],
    gang: (input["gang"] ?? null) as FitRequest["gang"],
    spot: input["spot"] === true,
    devices: input["devices"] as FitRequest["devices"],
    topology: (input["topology"] ?? "any") as FitRequest["topology"],
    resources: { ...ZERO, ...(input["resources"] as object | undefined) },
    start,
    end: start + length,
  };
}

export function checkQuotaExceeded(op: Operation, moments: () => View[], report: Report): boolean {
  const details = (op.body["details"] ?? {}) as Json;
  const [resource, requested] = [String(details["resource"]), Number(details["requested"])];
  const over = (view: View): boolean =>
    payersOf(op, view).some((payer) => {
      const max = quotaMax(view, payer, resource);
      const levels = usage(view, { payer, resource });
      if ((amountOf(op, view, resource) ?? requested) !== requested) return false;
      return max !== null && windowsOf(op, view).some((w) => peak(levels, w) + requested > max);
    });
  if (!moments().some(over))
    report(
      "COULD_HAVE_PAID",
      `operation ${op.n} at ${String(op.seq)}: ${JSON.stringify(details)}, ${brief(op.input)}`,
    );
  return true;
}

function windowsOf(op: Operation, view: View): Span[] {
  if (op.method === "reservations.create")
    return asked(op, view).flatMap((then) => [then.request, afterNotice(view, then)]);
  const row = extended(op, view);
  return row ? [{ start: row.end, end: Number(op.input["end"]) }] : [];
}

/** What the call asks for of the resource; null of a lease, which depends on the nodes that it would have got. */
function amountOf(op: Operation, view: View, resource: string): number | null {
  if (op.method !== "reservations.create") {
    const row = extended(op, view);
    return row ? (chargeOf(view.units, row).get(resource) ?? 0) : null;
  }
  const { binding, gang, devices, resources } = requestOf(op, op.endedAt);
  if (binding === "node") return null;
  const units = devices.filter((line) => line.class === resource);
  const scalar = (resources as Readonly<Record<string, number>>)[resource] ?? 0;
  return units.reduce((sum, { count }) => sum + count, scalar) * (gang?.size ?? 1);
}

const extended = ({ input }: Operation, { reservations }: View): ReservationRow | undefined =>
  reservations.find(({ id }) => id === input["reservationId"]);

/**
 * Whoever may have to pay: of a booking that is there, whoever pays for it, to whom the pool may not be offered any
 * more. Of a new one the tenant itself, or one above it; which tenants those are, no pool knows.
 */
function payersOf(op: Operation, view: View): string[] {
  if (op.method !== "reservations.create")
    return [extended(op, view)?.charged_tenant_id ?? op.tenantId];
  const { tenantId } = op;
  const own =
    tenantId === view.pool?.tenant_id || view.offers.some((o) => o.tenant_id === tenantId);
  if (own) return [tenantId];
  return view.offers.filter((o) => o.include_descendants).map((o) => o.tenant_id);
}

/** Rows of the pool over which more is in use in the window than may be. */
export function overQuota(view: View, id: string, window: Span): string[] {
  const row = view.reservations.find((r) => r.id === id);
  if (!row) return [];
  const payer = row.charged_tenant_id;
  return [...chargeOf(view.units, row).keys()].filter((resource) => {
    const max = quotaMax(view, payer, resource);
    return max !== null && peak(usage(view, { payer, resource }), window) > max;
  });
}

const brief = (input: Json): string => JSON.stringify(input).slice(0, 300);
