import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

const item = (tenantId: string, n: number) => ({ tenantId, n });

test("a tenant with a long queue does not keep a newcomer waiting", () => {
  const queue = new FairQueue<ReturnType<typeof item>>(100);
  for (let n = 0; n < 50; n += 1) queue.push(item("t-busy", n));
  queue.push(item("t-new", 0));
  expect(queue.take(2)).toEqual([item("t-busy", 0), item("t-new", 0)]);
  expect(queue.size).toBe(49);
});

test("one tenant's wishes keep their order, also when they are put back", () => {
  const queue = new FairQueue<ReturnType<typeof item>>(100);
  for (let n = 0; n < 4; n += 1) queue.push(item("t-a", n));
  queue.push(item("t-b", 0));
  const taken = queue.take(3);
  expect(taken).toEqual([item("t-a", 0), item("t-b", 0), item("t-a", 1)]);
  queue.push(item("t-c", 0));
  queue.putBack(taken);
  expect(queue.take(2)).toEqual([item("t-a", 0), item("t-b", 0)]);
  queue.putBack([item("t-a", 0)]);
  expect(queue.take(9).filter(({ tenantId }) => tenantId === "t-a")).toEqual(
    [0, 1, 2, 3].map((n) => item("t-a", n)),
  );
  expect(queue.size).toBe(0);
});

test("a full queue refuses and says whom", () => {
  const queue = new FairQueue<ReturnType<typeof item>>(2);
  expect([0, 1, 2].map((n) => queue.push(item("t-a", n)))).toEqual([null, null, item("t-a", 2)]);
  expect(queue.size).toBe(2);
});

test("a full queue makes room for whoever has less in it than another", () => {
  const queue = new FairQueue<ReturnType<typeof item>>(4);
  for (let n = 0; n < 4; n += 1) queue.push(item("t-crowd", n));
  expect(queue.push(item("t-a", 0))).toEqual(item("t-crowd", 3));
  expect(queue.push(item("t-b", 0))).toEqual(item("t-crowd", 2));
  expect(queue.push(item("t-crowd", 4))).toEqual(item("t-crowd", 4));
  expect(queue.size).toBe(4);
  expect(queue.take(9).map(({ tenantId, n }) => `${tenantId} ${n}`)).toEqual([
    "t-crowd 0",
    "t-a 0",
    "t-b 0",
    "t-crowd 1",
  ]);
  expect(queue.size).toBe(0);
});
