/** One read of a pool's committed state, refusals thrown. */
import type { PoolId, Result } from "@berth/domain";
import type { Committed, Engine, Read } from "@berth/engine";
import type { Call } from "../../call.ts";
import { fromRefusal, notFound } from "../../errors.ts";

/** @throws ApiError when the read refuses, or when there is no such pool */
export async function readPool<T>(
  call: Call,
  poolId: PoolId,
  read: Read<Result<T>>,
): Promise<Committed<T>> {
  // Of the engine only its reading half: a caller of this cannot write.
  const engine: Pick<Engine, "read"> = call.deps.engine;
  const found = await engine.read(poolId, read);
  if (!found) throw notFound("the pool has no gate");
  call.answer.seq = found.seq;
  if (!found.value.ok) throw fromRefusal(found.value.refusal);
  return { ...found, value: found.value.value };
}
