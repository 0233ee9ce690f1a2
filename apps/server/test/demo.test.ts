/** The demo as people start it: from nothing to bookings and back. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { spawnBerth } from "./harness.ts";

const DEMO = fileURLToPath(new URL("../src/demo/main.ts", import.meta.url));

it("--once books on the example fleet, shows what does not fit, and exits 0", async () => {
  const demo = spawnBerth(["--once"], { PORT: "0" }, DEMO);
  expect(await demo.ended, demo.stderr()).toEqual({ code: 0, signal: null });
  const out = demo.stdout();
  expect(out).toContain("40 nodes with 232 GPUs imported");
  expect(out).toContain("24 bookings by 3 tenants at once");
  expect(out.match(/rsv_[0-9a-z]{26}/g)?.length).toBeGreaterThan(5);
  expect(out).toMatch(/earliest start: \w{3}.*\d\d:\d\d/);
  expect(out).toMatch(/curl -s http:\/\/127\.0\.0\.1:\d+\/api\/compute\/capacity\/summary/);
  // Not a terminal: no colours.
  expect(out).not.toContain("\u001B");
});

it("says what is wrong with a fleet that it cannot read", async () => {
  const demo = spawnBerth(["--once", "--fleet", "/does/not/exist"], { PORT: "0" }, DEMO);
  expect((await demo.ended).code).toBe(2);
  expect(demo.stderr()).toContain("cannot read /does/not/exist");
});
