/** Where an answer about one pool stands in the pool's order, for reads that go past the engine. */
import type { GateId } from "@berth/domain";
import type { Call } from "../call.ts";

/** To be called before the rows are read: the answer is then at least as new as it says. */
export async function noteOrder(call: Call, gateId: GateId): Promise<void> {
  const [gate] = await call.deps.db.sql<{ seq: number }[]>`
    select seq from gates where id = ${gateId}`;
  if (gate) call.answer.seq = gate.seq;
}
