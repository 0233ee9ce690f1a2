/** The slots keep a transaction whole whatever happens to its connection. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectionLost, UnknownOutcome, isTransient, sqlState } from "./errors.ts";
import { SlotPool, type SlotTransaction } from "./slot-pool.ts";
import { type FaultProxy, type TestDatabase, faultProxy, testDatabase } from "./testing/index.ts";
import { seededRandom } from "./testing/random.ts";
import { waitFor } from "./testing/wait-for.ts";

let test_: TestDatabase;
let proxy: FaultProxy;
const pools: SlotPool[] = [];

beforeAll(async () => {
  test_ = await testDatabase({ empty: true });
  proxy = await faultProxy(test_.url);
  await test_.sql`create table parts (tx int8 not null, part int8 not null)`;
});
afterEach(async () => {
  proxy.set();
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await test_.sql`truncate parts`;
});
afterAll(async () => {
  await proxy.close();
  await test_.close();
});

function pool(url = test_.url, slots = 2, answerMs = 15_000): SlotPool {
  const made = new SlotPool(url, { slots, applicationName: "slots", answerMs });
  pools.push(made);
  return made;
}
async function parts(): Promise<number> {
  const [row] = await test_.sql<{ n: number }[]>`select count(*) as n from parts`;
  return row?.n ?? 0;
}
const insert = (tx: SlotTransaction, id: number, part: number): Promise<unknown> =>
  tx.q("insert into parts values ($1, $2)", [id, part]);

test("what was done is there when the transaction has answered", async () => {
  const value = await pool().tx(async (tx) => {
    await insert(tx, 1, 1);
    return "done";
  });
  expect(value).toBe("done");
  expect(await parts()).toBe(1);
});

test("a body that throws leaves nothing, and its slot is of use again", async () => {
  const slots = pool(test_.url, 1);
  const failed = slots.tx(async (tx) => {
    await insert(tx, 1, 1);
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  await slots.tx((tx) => insert(tx, 2, 1));
  expect(await parts()).toBe(1);
});

test("a failed statement fails the transaction even when its caller swallows the error", async () => {
  const swallowed = pool().tx(async (tx) => {
    await insert(tx, 1, 1);
    await tx.q("select 1 / 0").catch(() => null);
  });
  expect(sqlState(await swallowed.catch((error: unknown) => error))).toBe("22012");
  expect(await parts()).toBe(0);
});

test("a transaction that rolled back by itself is not taken for committed", async () => {
  const odd = pool().tx(async (tx) => {
    await insert(tx, 1, 1);
    await tx.q("rollback");
  });
  await expect(odd).resolves.toBeUndefined(); // COMMIT outside a transaction is a COMMIT of nothing
  const aborted = pool().tx(async (tx) => {
    await insert(tx, 2, 1);
    await tx.q("do $$ begin perform 1; end $$");
    await tx.q("select 1 / 0");
  });
  await expect(aborted).rejects.toThrow("division");
  expect(await parts()).toBe(0);
});

test("a handle kept after its transaction is refused", async () => {
  let kept: SlotTransaction | undefined;
  await pool().tx(async (tx) => {
    kept = tx;
  });
  await expect(kept && insert(kept, 1, 1)).rejects.toThrow("is over");
  expect(await parts()).toBe(0);
});

test("no connection at all is a lost connection, and worth another try", async () => {
  proxy.set({ kind: "refuse" });
  const failure = await pool(proxy.url, 1, 300)
    .run("select 1")
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConnectionLost);
  expect(isTransient(failure)).toBe(true);
});

test("a loss before COMMIT is no commit; a loss at COMMIT is unknown", async () => {
  const work = (tx: SlotTransaction): Promise<unknown> => insert(tx, 1, 1);
  proxy.set({ kind: "cut", on: /insert into parts/, at: "after" });
  await expect(pool(proxy.url).tx(work)).rejects.toBeInstanceOf(ConnectionLost);
  expect(await parts()).toBe(0);
  for (const at of ["before", "after"] as const) {
    proxy.set({ kind: "cut", on: /^commit$/, at });
    const failure = await pool(proxy.url)
      .tx(work)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnknownOutcome);
    expect(isTransient(failure)).toBe(false);
  }
  expect(await parts()).toBe(1);
});

test("a single statement whose answer was lost is unknown, sent or not", async () => {
  for (const at of ["before", "after"] as const) {
    proxy.set({ kind: "cut", on: /insert into parts/, at });
    const sent = pool(proxy.url).run("insert into parts values (1, 1)");
    await expect(sent).rejects.toBeInstanceOf(UnknownOutcome);
  }
  expect(await parts()).toBe(1);
});

test("a connection that no longer answers is given up", async () => {
  const slots = pool(test_.url, 1, 200);
  await expect(slots.run("select pg_sleep(30)")).rejects.toBeInstanceOf(UnknownOutcome);
  expect(await slots.run<{ one: number }>("select 1 as one")).toEqual([{ one: 1 }]);
});

test("killed backends under load leave no torn, lost or ghost transaction", async () => {
  const random = seededRandom(7);
  const slots = pool(test_.url, 4);
  const outcomes = new Map<number, string>();
  let stop = false;
  let serial = 0;
  const body = async (tx: SlotTransaction, id: number): Promise<void> => {
    await insert(tx, id, 1);
    await delay(random() * 6);
    await insert(tx, id, 2);
    if (random() < 0.2) throw Object.assign(new Error("own choice"), { code: "OWN" });
    await Promise.all([3, 4, 5].map((part) => insert(tx, id, part)));
  };
  const worker = async (): Promise<void> => {
    while (!stop) {
      const id = (serial += 1);
      const outcome = await slots
        .tx((tx) => body(tx, id))
        .then(
          () => "ok",
          (error: unknown) =>
            error instanceof UnknownOutcome ? "unknown" : (sqlState(error) ?? "other"),
        );
      outcomes.set(id, outcome);
    }
  };
  const workers = Array.from({ length: 8 }, worker);
  let kills = 0;
  const succeeded = (): number =>
    [...outcomes.values()].filter((outcome) => outcome === "ok").length;
  for (const started = performance.now(); performance.now() - started < 30_000;) {
    if (kills >= 60 && succeeded() >= 60) break;
    const killed = await test_.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'slots' and datname = current_database() order by random() limit 1`;
    kills += killed.length;
    await delay(random() * 50);
  }
  stop = true;
  await Promise.all(workers);
  await waitFor(async () => {
    const [row] = await test_.sql<{ n: number }[]>`select count(*) as n from pg_stat_activity
      where application_name = 'slots' and datname = current_database() and state <> 'idle'`;
    return row?.n === 0;
  }, "the last backend to finish");
  const rows = await test_.sql<
    { tx: number; n: number }[]
  >`select tx, count(*) as n from parts group by tx`;
  const stored = new Map(rows.map(({ tx, n }) => [tx, n]));
  const wrong = [...outcomes].filter(([id, outcome]) => {
    const n = stored.get(id) ?? 0;
    if (outcome === "unknown") return n !== 0 && n !== 5;
    return n !== (outcome === "ok" ? 5 : 0);
  });
  expect(wrong).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(60);
  expect(succeeded()).toBeGreaterThanOrEqual(60);
  expect([...new Set(outcomes.values())].toSorted()).not.toContain("other");
});
