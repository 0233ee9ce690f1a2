/** The three journeys, as the scripts that are shipped as examples. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type UnitReservation, createBerth } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BIN, type Ended, type World, nodes, startWorld } from "./kit.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/cli/", import.meta.url));

let world: World;
let folder: string;
beforeAll(async () => {
  world = await startWorld([...nodes("H100", 2), ...nodes("A100", 2)]);
  folder = mkdtempSync(join(tmpdir(), "berth-journey-"));
  symlinkSync(BIN, join(folder, "berth"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});

async function script(name: string, more: Record<string, string> = {}): Promise<Ended> {
  const path = [folder, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn("sh", [join(EXAMPLES, name)], {
    cwd: folder,
    env: { ...world.env(more), PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

/** The `berth` lines of a script. */
const commands = (name: string) =>
  readFileSync(join(EXAMPLES, name), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("berth "));

const H100 = { BERTH_POOL: "H100" };
const robotics = () => createBerth({ url: world.url, token: world.token("robotics") });

describe("the journeys", () => {
  it("A: sixteen GPUs on one rack for a week are one command", async () => {
    expect(commands("a-book-sixteen.sh")).toHaveLength(1);
    const { code, out, err } = await script("a-book-sixteen.sh", H100);
    expect(code, err).toBe(0);
    expect(out).toMatch(/what +2 × 8 gpu/);
    expect(out).toMatch(/start .* 09:00 CES?T \(\d\d:00 UTC\)/);
    const [id = ""] = /rsv_\w+/.exec(out) ?? [];
    await createBerth({ url: world.url, token: world.token() }).reservations.release({
      tenantId: "vision",
      reservationId: id,
    });
  });

  it("B: why it does not fit and when it would is one command, status 3, with the line that books then", async () => {
    const { id: reservationId } = await robotics().reservations.create({
      tenantId: "robotics",
      poolId: world.pool("H100"),
      devices: [{ class: "gpu", count: 8 }],
      duration: "2h",
    });
    const { code, out, err } = await script("b-when-does-it-fit.sh", H100);
    expect(code).toBe(0);
    expect(err).toMatch(/fits +no: /);
    expect(err).toMatch(/CAUSE +NODES\n/);
    expect(err).toMatch(/earliest +\w{3} \d+ \w{3} \d{4} [\d:]+ CES?T \([\d:]+ UTC\)/);
    expect(err).toMatch(/ {2}berth book 16 --together rack --for 1h --pool H100 --start \S+Z\n/);
    expect(out).toMatch(/since the epoch:\n\d{13}\n/);
    await robotics().reservations.release({ tenantId: "robotics", reservationId });
  });

  it("A and B: where several pools would do they end with status 2 and the line for each", async () => {
    for (const [name, line] of [
      [
        "a-book-sixteen.sh",
        "berth book 16 --together rack --start 'tomorrow 09:00' --for 7d --yes",
      ],
      ["b-when-does-it-fit.sh", "berth book 16 --together rack --for 1h --yes"],
    ] as const) {
      const { code, err } = await script(name);
      expect(code, err).toBe(2);
      for (const label of ["H100", "A100"]) expect(err).toContain(`  ${line} --pool ${label}\n`);
    }
  });

  it("C: set-aside GPUs come back by one command that ends as many as were expected, or nobody", async () => {
    expect(commands("c-reclaim.sh")).toHaveLength(1);
    const fence = await setAside();
    const token = { BERTH_TOKEN: world.adminToken, UNIT_RESERVATION: fence.id };
    const refused = await script("c-reclaim.sh", { ...token, EXPECT: "5" });
    expect(refused.code, refused.err).toBe(3);
    const { code, out, err } = await script("c-reclaim.sh", token);
    expect(code, err).toBe(0);
    expect(out).toMatch(/end +3 on the spot market/);
  });
});

/** Three GPUs set aside, released onto the market, and sold there one by one. */
async function setAside(): Promise<UnitReservation> {
  const { admin } = world;
  const nodesOfPool = admin.fleet.listNodes({ tenantId: "lab", poolId: world.pool("H100") });
  const [node] = await nodesOfPool.toArray({ limit: 1 });
  const unitIds = (node?.units ?? [])
    .filter((unit) => unit.class === "gpu")
    .slice(0, 3)
    .map(({ id }) => id);
  const of = { nodeId: node?.id ?? "" };
  const startsAt = new Date().toISOString();
  const fence = await admin.unitReservations.create({
    ...of,
    unitIds,
    allowedOrgIds: ["speech"],
    startsAt,
  });
  await admin.unitReservations.release({ ...of, reservationId: fence.id });
  for (const unitId of unitIds)
    await robotics().reservations.create({
      tenantId: "robotics",
      poolId: world.pool("H100"),
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [unitId] } }],
      duration: "1h",
      spot: true,
    });
  return fence;
}
