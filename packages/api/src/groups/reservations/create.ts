/** Books devices, waiting for room where that was asked for. A repeated key answers what it made, whatever became of it since. */
import type { Input } from "@berth/contract";
import type { KeyClaim } from "@berth/db";
import { type Asked, type Result, type Turn, type Waiter, createOrWait, ok } from "@berth/domain";
import { type Committed, KeyTaken } from "@berth/engine";
import { auditEntry } from "../../audit.ts";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, PoolScope, TenantScope } from "../../call.ts";
import { conflict, fromRefusal } from "../../errors.ts";
import { bookingAsk, bookingIssues } from "./booking-ask.ts";
import { whileAllowed } from "../../while-allowed.ts";
import { refusalNow } from "./refusal-now.ts";
import { requestHash } from "./request-hash.ts";
import { keyRow } from "./store.ts";
import { storedReservation } from "./stored-reservation.ts";
import { type ReservationView, reservationView, stateLookup } from "./view.ts";

type CreateInput = Input<"reservations.create">;
type Answered =
  | { readonly view: ReservationView; readonly waiter: null }
  | { readonly view: null; readonly waiter: Waiter };

export const create: Handler<"reservations.create"> = {
  check: bookingIssues,
  replay: (call, input, scope) => replay(call, input, scope),

  async run(call, input, scope) {
    const { poolId } = scope.pool;

    // 1. What the request asks for.
    const ask = bookingAsk(call, input, scope);

    // 2. Booked in the pool's order, the key with it; somebody with the same key may have been faster.
    const decided = await decide(call, input, { scope, ask }).catch(async (thrown: unknown) => {
      const stored = thrown instanceof KeyTaken ? await replay(call, input, scope) : undefined;
      if (stored === undefined) throw thrown;
      return stored;
    });
    if (!("value" in decided)) return decided;

    call.answer.seq = decided.seq;
    call.answer.filed = decided.filed === true;
    const { value } = decided;
    if (value.ok && value.value.view) return value.value.view;

    // 3. It waits: until it is served, its time is over or its caller hangs up.
    if (value.ok && value.value.waiter) {
      const { waiter } = value.value;
      const became = await whileAllowed(call, (signal) =>
        call.deps.engine.wait({ waiter, since: decided.seq }, signal),
      );
      if (became === "served") return storedReservation(call, { poolId, id: waiter.id });
    }

    // 4. Refused: perhaps because a twin of this very call took the last room or quota a moment ago.
    const twin = await replay(call, input, scope);
    if (twin !== undefined) return twin;

    // 5. Why it is refused, and when the same request would fit.
    const refusal = value.ok ? null : value.refusal;
    const told = await refusalNow(call, { refusal, poolId, ask });
    // The answer's place is where it was refused: the search for a time may have read a later state.
    if (refusal) call.answer.seq = decided.seq;
    throw fromRefusal(told);
  },
};

/** In the pool's order: booked, put in line, or refused. */
function decide(
  call: Call,
  input: CreateInput,
  { scope, ask }: { readonly scope: PoolScope; readonly ask: ReturnType<typeof bookingAsk> },
): Promise<Committed<Result<Answered>>> {
  const { engine } = call.deps;
  const { tenantId, ...key } = claim(call, input, scope);
  const wait = { timeoutMs: input.wait?.timeoutMs ?? 0, serverId: engine.serverId, key };
  return engine.submit(scope.pool.poolId, {
    name: call.method,
    tenantId,
    signal: call.signal,
    key: { tenantId, ...key },
    file: ({ view }) => view && auditEntry(call, scope.tenantId, view.id),
    plan(turn) {
      const asked = createOrWait(
        turn,
        {
          ...ask,
          projectId: input.projectId ?? null,
          leaseSeconds: input.leaseSeconds ?? null,
          createdBy: call.principal.id,
        },
        wait,
      );
      return asked.ok ? ok(answered(turn, asked.value)) : asked;
    },
  });
}

/** Nodes and units are looked up in the turn: later they may have gone. */
function answered(turn: Turn, asked: Asked): Answered {
  if (asked.kind === "waits") return { view: null, waiter: asked.waiter };
  const view = reservationView(asked.reservation, stateLookup(turn.state));
  return { view, waiter: null };
}

function claim(
  call: Call,
  input: CreateInput,
  scope: TenantScope,
): Omit<KeyClaim, "reservationId"> {
  return {
    tenantId: scope.tenantId,
    principal: call.principal.id,
    key: input.idempotencyKey,
    requestHash: requestHash(input),
  };
}

/** What the key made, as it is now; undefined when the key is free. */
async function replay(
  call: Call,
  input: CreateInput,
  scope: TenantScope,
): Promise<ReservationView | undefined> {
  const { requestHash: hash, ...key } = claim(call, input, scope);
  const used = await keyRow(call.deps.db, key);
  // Another key of the same principal may be limited to other pools: it learns nothing of what was made there.
  if (!used || !poolInScope(call.principal, used.poolId)) return undefined;
  if (used.requestHash !== hash)
    throw conflict("key", {
      message: "The idempotency key was used for another request; a new request needs a new key.",
    });
  call.answer.replayed = true;
  return storedReservation(call, { poolId: used.poolId, id: used.reservationId });
}
