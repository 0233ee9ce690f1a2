/** Fit and quota of a request and of its alternatives, at one state of the pool. Writes nothing. */
import type { Input, Output } from "@berth/contract";
import {
  type BookingPreview,
  type PoolState,
  type QuotaLine,
  type Result,
  ok,
  previewBooking,
  quotaLines,
  requestAmounts,
  withinQuota,
} from "@berth/domain";
import type { Handler } from "../../call.ts";
import { readPool } from "../capacity/read-pool.ts";
import { previewView } from "../capacity/view.ts";
import { bookingAsk } from "./booking-ask.ts";

type Quote = Output<"reservations.quote">;
type Quoted = Quote["alternatives"][number];
type Alternative = NonNullable<Input<"reservations.quote">["alternatives"]>[number];
type Ask = ReturnType<typeof bookingAsk>;

export const quote: Handler<"reservations.quote"> = {
  async run(call, input, scope) {
    // 1. The request, and each alternative laid over it.
    const { alternatives = [], ...request } = input;
    const asks = [request, ...alternatives.map((shape) => overlaid(request, shape))].map((shape) =>
      bookingAsk(shape, scope),
    );

    // 2. All of them at one state, so that they can be compared.
    const read = await readPool(call, scope.pool.poolId, (state, now) =>
      quoteAll(state, now, asks),
    );

    // 3. The answers, in order.
    const [first, ...others] = read.value;
    if (!first) throw new Error("a quote answers its own request first");
    return { ...first, alternatives: others };
  },
};

type Request = Omit<Input<"reservations.quote">, "alternatives">;

/** What an alternative does not name is the request's. */
function overlaid(request: Request, shape: Alternative): Request {
  const named = Object.entries(shape).filter(([, value]) => value !== undefined);
  return { ...request, ...(Object.fromEntries(named) as Partial<Request>) };
}

function* quoteAll(
  state: PoolState,
  now: number,
  asks: readonly Ask[],
): Generator<void, Result<Quoted[]>, void> {
  const quoted: Quoted[] = [];
  for (const ask of asks) {
    // Placing is one step each; others may run between two of them.
    yield;
    const preview = yield* previewBooking(state, now, ask);
    if (!preview.ok) return preview;
    quoted.push({
      preview: previewView(preview.value, now),
      quota: quotaView(state, preview.value),
    });
  }
  return ok(quoted);
}

function quotaView(state: PoolState, preview: BookingPreview): Quoted["quota"] {
  const { config, charge, request } = preview;
  const { start, end } = request;
  const amounts = requestAmounts(request.devices, request.resources);
  const lines = quotaLines(state, config, { payer: charge.tenantId, amounts, start, end });
  const row = charge.descendant ? whatRemains : ownRow;
  return { ok: lines.every(withinQuota), rows: lines.map(row) };
}

function ownRow({ resource, max, peak, asked }: QuotaLine): Quoted["quota"]["rows"][number] {
  return { resource, max, peak, remaining: null, asked };
}

/** The row is another tenant's: only what is left of it may be known. */
function whatRemains({ resource, max, peak, asked }: QuotaLine): Quoted["quota"]["rows"][number] {
  return { resource, max: null, peak: null, remaining: Math.max(0, max - peak), asked };
}
