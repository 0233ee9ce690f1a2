import { expect, test } from "vitest";
import { inTime, patienceOf } from "./in-time.ts";

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(new Error("told to stop")), { once: true }),
  );

test("work that is in time is answered as it ends, good or bad", async () => {
  expect(await inTime(60_000, () => Promise.resolve("done"))).toBe("done");
  await expect(inTime(60_000, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("work that is late is UNAVAILABLE, retryable with the same key, and told to stop", async () => {
  let told = false;
  const late = inTime(20, (signal) => {
    signal.addEventListener("abort", () => (told = true));
    return forever(signal);
  });
  await expect(late).rejects.toMatchObject({
    code: "UNAVAILABLE",
    publicMessage: expect.stringContaining("same idempotency key"),
  });
  expect(told).toBe(true);
});

test("a caller that goes away ends the work, before and while it runs", async () => {
  const gone = new AbortController();
  const running = inTime(60_000, forever, gone.signal);
  gone.abort();
  await expect(running).rejects.toThrow("told to stop");
  const seen = await inTime(60_000, (signal) => Promise.resolve(signal.aborted), gone.signal);
  expect(seen).toBe(true);
});

test("who asks to wait for room is given that long on top, and who brings a fleet has longer", () => {
  const usual = patienceOf("reservations.create", {});
  expect(patienceOf("reservations.create", { wait: { timeoutMs: 30_000 } })).toBe(usual + 30_000);
  for (const input of [null, "text", { wait: null }, { wait: {} }, { wait: { timeoutMs: "5" } }])
    expect(patienceOf("reservations.create", input)).toBe(usual);
  expect(patienceOf("fleet.putNodes", {})).toBeGreaterThan(usual);
});
