/** What one batch does to rows that hand units over to each other within it. */
import { type Reservation, type Result, type Turn, extendReservation } from "@berth/domain";
import { expect, test } from "vitest";
import { createEngine } from "./engine.ts";
import { POOL, book, release, storeWithPool } from "./testing/fixtures.ts";
import { seeded } from "./testing/seeded.ts";

const HOUR = 3_600_000;

test("a booking that was changed first may take over what another one lets go later in the batch", async () => {
  const store = await storeWithPool(1, 1);
  const engine = createEngine({
    store,
    random: seeded(1).bytes,
    elapsed: () => performance.now(),
    // However busy the machine is, all three go into one batch.
    options: { planSliceMs: 60_000 },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const hour = { tenantId: "t-a", gpus: 1, durationMs: HOUR };
  const mine = await engine.submit(POOL, book(hour));
  if (!mine.value.ok) throw new Error("there is room");
  const { id, end } = mine.value.value;
  const start = end + HOUR / 2;
  const next = await engine.submit(POOL, book({ ...hour, tenantId: "t-b", start }));
  if (!next.value.ok) throw new Error("there is room after it");
  const extend = (to: number) => ({
    name: "extend",
    tenantId: "t-a",
    plan: (turn: Turn): Result<Reservation> =>
      extendReservation(turn, { tenantId: "t-a", reservationId: id, ancestors: [], end: to }),
  });
  const answers = await Promise.all([
    engine.submit(POOL, extend(start)),
    engine.submit(POOL, release("t-b", next.value.value.id)),
    engine.submit(POOL, extend(end + HOUR)),
  ]);
  expect(answers.map(({ value }) => value.ok)).toEqual([true, true, true]);
  expect(new Set(answers.map(({ seq }) => seq)).size).toBe(1);
  const held = await engine.read(POOL, (state) => state.reservation(id)?.end);
  expect(held?.value).toBe(end + HOUR);
});
