/** The demo as people start it: from nothing to bookings and back. */
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { createBerth } from "@berth/client";
import { expect, it } from "vitest";
import { type SpawnedCommand, spawnBerth } from "./harness.ts";

const DEMO = fileURLToPath(new URL("../src/demo/main.ts", import.meta.url));

it("--once books on the example fleet, shows what does not fit, and exits 0", async () => {
  const demo = spawnBerth(["--once"], { PORT: "0" }, DEMO);
  expect(await demo.ended, demo.stderr()).toEqual({ code: 0, signal: null });
  const out = demo.stdout();
  expect(out).toContain("40 nodes with 232 GPUs imported");
  expect(out).toContain("24 bookings by 3 tenants at once");
  expect(out.match(/rsv_[0-9a-z]{26}/g)?.length).toBeGreaterThan(5);
  expect(out).toMatch(/earliest start: \w{3}.*\d\d:\d\d/);
  // The second act: a gang on one rack, MIG, a spot booking that makes way, a reclaim as its dry run said.
  expect(out).toMatch(
    /gang +rsv_\w+ +vision +2 × 8 GPUs on one rack: rack-([ab])-\d and rack-\1-\d/,
  );
  expect(out).toMatch(/MIG +rsv_\w+ +speech +one 3g\.40gb of GPU-/);
  expect(out).toMatch(/spot +rsv_\w+ +robotics +8 GPUs, told that it ends at \d\d:\d\d:\d\d UTC/);
  expect(out).toMatch(/would end +(rsv_\w+)\n.*real call ended \1: the same/);
  // Its server is gone: nothing is offered that would be asked of it.
  expect(out).toMatch(/The API was at http:\/\/127\.0\.0\.1:\d+; it is gone/);
  expect(out).not.toMatch(/The API is at|curl|BERTH_TOKEN|Ctrl-C/);
  // Not a terminal: no colours.
  expect(out).not.toContain("\u001B");
});

it("ends with what the README's example needs: an address, a tenant's key, a pool with room", async () => {
  const demo = spawnBerth([], { PORT: "0" }, DEMO);
  const out = await whenSaid(demo, "Ctrl-C stops it");
  const [, url = ""] = /The API is at (http:\/\/127\.0\.0\.1:\d+),/.exec(out) ?? [];
  const [, token = ""] = /export BERTH_TOKEN=(\S+)/.exec(out) ?? [];
  expect(out).toMatch(/export BERTH_URL=http:\/\/127\.0\.0\.1:\d+\n/);
  const [, poolId = ""] = /const poolId = "(pool_\w+)"/.exec(out) ?? [];
  expect(out).toContain(`curl -s ${url}/api/compute/capacity/summary`);
  expect(out).toContain(`The console is at ${url}/`);
  expect(await (await fetch(url)).text()).toContain('<div id="root">');
  const berth = createBerth({ url, token });
  const devices = [{ class: "gpu" as const, count: 8 }];
  const ask = { tenantId: "vision", poolId, devices, duration: "4h" };
  expect((await berth.reservations.create(ask)).members?.[0]?.atoms).toHaveLength(8);
  demo.process.kill("SIGTERM");
  expect(await demo.ended).toEqual({ code: 0, signal: null });
});

async function whenSaid(command: SpawnedCommand, text: string): Promise<string> {
  const ended = command.ended.then(() => "ended");
  while (!command.stdout().includes(text)) {
    const more = once(command.process.stdout ?? command.process, "data").then(() => "more");
    if ((await Promise.race([more, ended])) === "ended") throw new Error(command.stderr());
  }
  return command.stdout();
}

it("does not move from a port that was asked for", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const address = holder.address();
  const port = String(typeof address === "object" ? address?.port : "");
  const demo = spawnBerth(["--once"], { PORT: port }, DEMO);
  expect((await demo.ended).code).toBe(2);
  expect(demo.stderr()).toContain(`PORT ${port} on 127.0.0.1 is taken`);
  holder.close();
});

it("heeds only the settings that its help lists", async () => {
  const help = spawnBerth(["--help"], {}, DEMO);
  expect((await help.ended).code).toBe(0);
  const listed = help.stdout().match(/^ {2}[A-Z_]+(?= )/gm);
  expect(listed?.map((name) => name.trim())).toEqual(["PORT", "HOST", "NO_COLOR"]);
  // A database of somebody's, and a budget that the story does not fit in.
  const real = { DATABASE_URL: "postgres://127.0.0.1:1/x", BERTH_RATE_LIMIT: "1" };
  const demo = spawnBerth(["--once"], { PORT: "0", ...real }, DEMO);
  expect(await demo.ended, demo.stderr()).toEqual({ code: 0, signal: null });
});

it("says what is wrong with a fleet that it cannot read", async () => {
  const demo = spawnBerth(["--once", "--fleet", "/does/not/exist"], { PORT: "0" }, DEMO);
  expect((await demo.ended).code).toBe(2);
  expect(demo.stderr()).toContain("cannot read /does/not/exist");
});
