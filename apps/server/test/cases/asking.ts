/** The requests that the cases make, and how their outcomes are told apart. */
import {
  type Berth,
  type BerthError,
  type BookingRequest,
  type Reservation,
  isBerthError,
} from "@berth/client";
import type { Fleet } from "../harness.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Where the stopped clocks of these tests stand: the start of a UTC hour. */
export const NOW = Date.UTC(2031, 4, 5, 9);

/** Who asks for what, where: a client, its tenant and a pool. */
export interface Asker {
  readonly berth: Berth;
  readonly tenantId: string;
  readonly poolId: string;
}

type Rest = Omit<BookingRequest, "tenantId" | "poolId" | "devices" | "duration"> &
  Partial<Pick<BookingRequest, "devices" | "duration">>;

/** A request for GPUs: for an hour from now, unless `rest` says otherwise. */
export function gpuRequest(
  { tenantId, poolId }: Pick<Asker, "tenantId" | "poolId">,
  count: number,
  rest: Rest = {},
): BookingRequest {
  return { tenantId, poolId, devices: [{ class: "gpu", count }], duration: "1h", ...rest };
}

/** Books GPUs: for an hour from now, unless `rest` says otherwise. */
export function bookGpus(asker: Asker, count: number, rest: Rest = {}): Promise<Reservation> {
  return asker.berth.reservations.create(gpuRequest(asker, count, rest));
}

export function release({ berth, tenantId }: Asker, { id }: Reservation): Promise<Reservation> {
  return berth.reservations.release({ tenantId, reservationId: id });
}

/** The call's refusal; fails when there is none. */
export async function refusal(call: Promise<unknown>): Promise<BerthError> {
  const answer = await call.catch((error: unknown) => {
    if (isBerthError(error)) return error;
    throw error;
  });
  if (isBerthError(answer)) return answer;
  throw new Error(`the call was to be refused, and answered ${JSON.stringify(answer)}`);
}

/** `OK`, or the code of the refusal. */
export function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "OK",
    (error: unknown) => {
      if (isBerthError(error)) return error.code;
      throw error;
    },
  );
}

/** How often each outcome came. */
export async function outcomes(
  calls: readonly Promise<unknown>[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of await Promise.all(calls.map(outcome))) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** The units that a reservation holds, in the order of its lines. */
export function unitsOf({ members }: Reservation): string[] {
  return (members ?? []).flatMap(({ atoms }) => atoms.map(({ unitId }) => unitId));
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** A booker of the fleet's pool. */
export async function asker(
  server: { as(tenantId: string): Promise<Berth> },
  tenantId: string,
  { poolId }: Pick<Fleet, "poolId">,
): Promise<Asker> {
  return { berth: await server.as(tenantId), tenantId, poolId };
}
