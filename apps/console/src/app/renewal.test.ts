import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRenewal } from "./renewal.ts";

const KEY = ["berth", "fleet", "listNodes", { poolId: "pool_x" }];
const ANSWER_MS = 1_000;

let client: QueryClient;
let asked: number;
let aborted: number;
let leave: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, aborted] = [0, 0];
  client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  leave = look();
});
afterEach(() => {
  leave();
  client.clear();
  vi.useRealTimers();
});

/** As a page does that shows the nodes. */
function look(): () => void {
  const observer = new QueryObserver(client, {
    queryKey: KEY,
    queryFn: ({ signal }) => {
      asked += 1;
      const mine = asked;
      signal.addEventListener("abort", () => (aborted += 1));
      return new Promise((done) => setTimeout(() => done(mine), ANSWER_MS));
    },
  });
  return observer.subscribe(() => undefined);
}

it("events that come faster than the answer neither cancel it nor are forgotten", async () => {
  const renew = createRenewal(client);
  await vi.advanceTimersByTimeAsync(ANSWER_MS);
  expect(client.getQueryData(KEY)).toBe(1);
  for (let event = 0; event < 20; event += 1) {
    renew(["fleet.listNodes"]);
    await vi.advanceTimersByTimeAsync(200);
  }
  await vi.advanceTimersByTimeAsync(3 * ANSWER_MS);
  expect(aborted).toBe(0);
  // Four seconds of events, a second an answer; the last one was asked after the last event.
  expect(asked).toBeLessThanOrEqual(7);
  expect(client.getQueryData(KEY)).toBe(asked);
});

it("a hundred events at once are one question", async () => {
  const renew = createRenewal(client);
  await vi.advanceTimersByTimeAsync(ANSWER_MS);
  for (let event = 0; event < 100; event += 1) renew(["fleet.listNodes", "capacity"]);
  await vi.advanceTimersByTimeAsync(2 * ANSWER_MS);
  expect(asked).toBe(2);
});

it("what was on its way before the event is asked once more", async () => {
  const renew = createRenewal(client);
  await vi.advanceTimersByTimeAsync(ANSWER_MS / 2);
  renew(["fleet.listNodes"]);
  await vi.advanceTimersByTimeAsync(3 * ANSWER_MS);
  expect([asked, aborted]).toEqual([2, 0]);
});

it("what a page asks right after the event is not asked twice", async () => {
  leave();
  client.clear();
  asked = 0;
  const renew = createRenewal(client);
  renew(["fleet.listNodes"]);
  await vi.advanceTimersByTimeAsync(10);
  leave = look();
  await vi.advanceTimersByTimeAsync(3 * ANSWER_MS);
  expect([asked, client.getQueryData(KEY)]).toEqual([1, 1]);
});
