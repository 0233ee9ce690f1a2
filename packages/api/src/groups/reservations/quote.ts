/** Fit and quota of a request and of its alternatives, at one state of the pool. Writes nothing. */
import type { Input, Output } from "@berth/contract";
import {
  type BookingPreview,
  type InputIssue,
  type PoolState,
  type Refusal,
  type Result,
  bookingQuota,
  ok,
  previewBooking,
  refuse,
  withinQuota,
} from "@berth/domain";
import type { Handler } from "../../call.ts";
import { readPool } from "../capacity/read-pool.ts";
import { previewView } from "../capacity/view.ts";
import { quotaSight } from "../quota-sight.ts";
import { bookingAsk, bookingIssues } from "./booking-ask.ts";

type Quote = Output<"reservations.quote">;
type Quoted = Quote["alternatives"][number];
type Alternative = NonNullable<Input<"reservations.quote">["alternatives"]>[number];
type Ask = ReturnType<typeof bookingAsk>;

export const quote: Handler<"reservations.quote"> = {
  check: (input) => issuesOfAll(input, bookingIssues),

  async run(call, input, scope) {
    // 1. The request, and each alternative laid over it.
    const asks = requestsOf(input).map((shape) => bookingAsk(call, shape, scope));

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

/** The request first, then its alternatives in order. */
function requestsOf(input: Input<"reservations.quote">): readonly [Request, ...Request[]] {
  const { alternatives = [], ...request } = input;
  return [request, ...alternatives.map((shape) => overlaid(request, shape))];
}

/** What is wrong with the request is wrong with most of what is laid over it: that is said once. */
function issuesOfAll(
  input: Input<"reservations.quote">,
  issuesOf: (shape: Request) => InputIssue[],
): InputIssue[] {
  const [request, ...alternatives] = requestsOf(input);
  const issues = issuesOf(request);
  if (issues.length > 0) return issues;
  return alternatives.flatMap((shape, at) => inAlternative(issuesOf(shape), at));
}

/** A path that leads into the alternative. */
function inAlternative(issues: readonly InputIssue[], at: number): InputIssue[] {
  return issues.map(({ path, message }) => ({ path: ["alternatives", at, ...path], message }));
}

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
  for (const [at, ask] of asks.entries()) {
    // Placing is one step each; others may run between two of them.
    yield;
    const preview = yield* previewBooking(state, now, ask);
    if (!preview.ok) return at === 0 ? preview : ofAlternative(preview.refusal, at - 1);
    quoted.push({
      preview: previewView(preview.value, now),
      quota: quotaView(state, preview.value),
    });
  }
  return ok(quoted);
}

function ofAlternative(refusal: Refusal, at: number): Result<never> {
  if (refusal.code !== "INVALID_INPUT") return refuse(refusal);
  return refuse({ ...refusal, issues: inAlternative(refusal.issues, at) });
}

function quotaView(state: PoolState, preview: BookingPreview): Quoted["quota"] {
  const { charge, placement } = preview;
  const lines = bookingQuota(state, preview, placement);
  const rows = lines.map(({ resource, max, peak, asked }) => {
    const { used, ...row } = quotaSight({ max, used: peak }, charge.descendant);
    return { resource, ...row, peak: used, asked };
  });
  return { ok: lines.every(withinQuota), rows };
}
