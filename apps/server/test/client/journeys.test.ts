/** The three journeys as the programs that are shipped as examples, in as few statements as were promised. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gpus } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";

const EXAMPLES = fileURLToPath(new URL("../../../../examples/sdk/", import.meta.url));
const run = promisify(execFile);

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer();
  const nodes = ["j1", "j2"].map((name) => fenceable(node(name, 8)));
  fleet = await server.fleet(pool(2, 8, { nodes }));
});
afterAll(async () => {
  await server.stop();
});

/** A node whose GPUs may be set aside one by one. */
function fenceable(plain: ReturnType<typeof node>): ReturnType<typeof node> {
  const gpus = (plain.gpus ?? []).map((gpu, index) => ({ ...gpu, vfioGroup: `${index}` }));
  return { ...plain, gpus };
}

/** Where it lies, as from a clone. */
async function program(name: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [join(EXAMPLES, name)], {
    cwd: tmpdir(),
    env: { PATH: process.env["PATH"], BERTH_URL: server.url, ...env },
  });
  return stdout;
}

/** Statements between the marks of a journey, those in others counted too, blocks not. */
async function statements(name: string): Promise<number> {
  const text = await readFile(join(EXAMPLES, name), "utf8");
  const [, journey] = /^\/\/ The journey$([^]*)^\/\/ Its end$/m.exec(text) ?? [];
  let count = 0;
  const stack: unknown[] = [parseAst(journey ?? "", { lang: "ts" })];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== "object" || value === null) continue;
    const { type = "" } = value as { readonly type?: string };
    if (/Statement$|^VariableDeclaration$/.test(type) && type !== "BlockStatement") count += 1;
    stack.push(...Object.values(value));
  }
  return count;
}

describe("the journeys", () => {
  it("A: sixteen GPUs on one rack for next week are at most five statements", async () => {
    expect(await statements("a.ts")).toBeGreaterThan(0);
    expect(await statements("a.ts")).toBeLessThanOrEqual(5);
    const { poolId } = fleet;
    const token = await server.token("t-a");
    const said = await program("a.ts", {
      BERTH_TOKEN: token,
      BERTH_TENANT: "t-a",
      BERTH_POOL: poolId,
    });
    expect(said).toMatch(/^rsv_\w+ on j[12] and j[12]\n$/);
    const berth = await server.as("t-a");
    const { reservations } = await berth.reservations.list({ tenantId: "t-a", poolId });
    const [made] = reservations;
    expect(made).toMatchObject({ state: "scheduled", gang: { size: 2 } });
    const start = new Date(made?.start ?? 0);
    expect([start.getUTCDay(), start.getUTCHours()]).toEqual([1, 9]);
    expect((made?.end ?? 0) - (made?.start ?? 0)).toBe(7 * 24 * 3_600_000);
    await berth.reservations.release({ tenantId: "t-a", reservationId: made?.id ?? "" });
  });

  it("B: why it does not fit and when it will are at most three statements", async () => {
    expect(await statements("b.ts")).toBeGreaterThan(0);
    expect(await statements("b.ts")).toBeLessThanOrEqual(3);
    const { poolId } = fleet;
    const other = await server.as("t-b");
    const tenantId = "t-b";
    const held = await other.reservations.create({ tenantId, poolId, ...gpus(8), duration: "2h" });
    const token = await server.token("t-a");
    const said = await program("b.ts", {
      BERTH_TOKEN: token,
      BERTH_TENANT: "t-a",
      BERTH_POOL: poolId,
    });
    expect(said).toMatch(/gpu/);
    expect(said).toContain(`\nearliest ${new Date(held.end).toISOString()}\n`);
    await other.reservations.release({ tenantId, reservationId: held.id });
  });

  it("C: taking GPUs back from spot is two statements, and ends exactly whom the plan named", async () => {
    expect(await statements("c.ts")).toBe(2);
    const { admin } = server;
    const [nodeId = ""] = fleet.nodeIds;
    const { units } = await admin.fleet.getNode({ tenantId: fleet.owner, nodeId });
    const unitIds = units
      .filter((unit) => unit.class === "gpu")
      .map(({ id }) => id)
      .slice(0, 3);
    const startsAt = new Date().toISOString();
    const fence = await admin.unitReservations.create({
      nodeId,
      unitIds,
      allowedOrgIds: ["t-c"],
      startsAt,
    });
    await admin.unitReservations.release({ nodeId, reservationId: fence.id });
    const spot = await server.as("t-b");
    for (const unitId of unitIds)
      await spot.reservations.create({
        tenantId: "t-b",
        poolId: fleet.poolId,
        devices: [{ class: "gpu", count: 1, selector: { unitIds: [unitId] } }],
        duration: "1h",
        spot: true,
      });
    const { secret } = await admin.access.createKey({
      tenantId: "platform",
      role: "fleet-admin",
      name: "journey",
    });
    const said = await program("c.ts", {
      BERTH_TOKEN: secret,
      BERTH_NODE: nodeId,
      BERTH_UNIT_RESERVATION: fence.id,
    });
    expect(said).toBe(`3 ended, ${fence.id} is active\n`);
    await server.expectHealthy();
  });
});
