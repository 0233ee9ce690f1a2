/** A file of each format goes through the real command into a real server: shown first, then in, then unchanged. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importFiles } from "../src/commands/import.ts";
import { readConfig } from "../src/index.ts";
import { ADMIN_KEY, type TestServer, spawnBerth, startServer } from "./harness.ts";
import { changed } from "./import/support.ts";

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), "berth-formats-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

const fixturePath = (file: string) =>
  fileURLToPath(new URL(`import/fixtures/${file}`, import.meta.url));

/** The command itself, in this process: starting one takes longer than what it does. */
async function berthImport(files: readonly string[], site: string, dryRun = false) {
  const out: string[] = [];
  const err: string[] = [];
  const output = {
    data: (line: string) => void out.push(line),
    say: (line: string) => void err.push(line),
    progress: () => undefined,
  };
  const config = readConfig({
    BERTH_URL: server.url,
    BERTH_TOKEN: ADMIN_KEY,
    BERTH_PLATFORM_ORG: "platform",
  });
  await importFiles(config, output, { files, site, dryRun });
  return { out, err: err.join("\n") };
}

async function nodesOf(site: string) {
  const { sites } = await server.admin.fleet.listSites({ tenantId: "platform" });
  const siteId = sites.find(({ name }) => name === site)?.id;
  if (siteId === undefined) return [];
  return (await server.admin.fleet.listNodes({ tenantId: "platform", siteId })).nodes;
}

const FORMATS: readonly [site: string, files: readonly string[], nodes: number, gpus: number][] = [
  ["kubernetes", ["kubernetes.json", "resourceslices-v1beta1.json", "nodes.yaml"], 10, 29],
  ["nvidia", ["hgx-01.xml", "hgx-01.topo.txt"], 1, 4],
  ["slurm-text", ["scontrol.txt"], 3, 6],
  ["slurm-22", ["sinfo-22.05.json"], 3, 6],
  ["slurm-24", ["nodes-24.11.json"], 3, 6],
  ["slurm-conf", ["slurm.conf", "gres.conf"], 7, 16],
];

describe.each(FORMATS)("%s", (site, files, nodes, gpus) => {
  const paths = files.map(fixturePath);

  it(`shows ${nodes} new nodes on a dry run, writes them, and finds them unchanged`, async () => {
    const dry = await berthImport(paths, site, true);
    expect(dry.err).toContain("dry run: nothing was written");
    expect(dry.out.filter((line) => line.startsWith("+ "))).toHaveLength(nodes);
    expect(await nodesOf(site)).toEqual([]);

    const made = await berthImport(paths, site);
    expect(made.err).toContain("done in");
    expect(made.out.at(-1)).toBe(`${nodes} nodes: ${nodes} created, 0 changed, 0 unchanged`);
    const there = await nodesOf(site);
    const units = there.flatMap((node) => node.units.filter((unit) => unit.class === "gpu"));
    expect([there.length, units.length]).toEqual([nodes, gpus]);
    const counts = `${there.length} nodes, ${units.length} GPUs`;
    process.stdout.write(`import ${files.join(" + ")}: ${counts}\n`);

    const again = await berthImport(paths, site);
    expect(again.out.at(-1)).toBe(`${nodes} nodes: 0 created, 0 changed, ${nodes} unchanged`);
    const dryAgain = await berthImport(paths, site, true);
    expect(dryAgain.out[0]).toBe(
      `${nodes} nodes: 0 created, 0 changed, ${nodes} without a difference that the API shows`,
    );
  });
});

describe("a change at the source", () => {
  const write = (file: string, from: string, to: string) => {
    const path = join(folder, file);
    writeFileSync(path, changed(file, from, to).text);
    return path;
  };

  it("is shown by its node and field before it goes in", async () => {
    const cordoned = write("nodes.yaml", "podCIDR: 10.2.0.0/24", "unschedulable: true");
    const dry = await berthImport([cordoned], "kubernetes", true);
    expect(dry.out[0]).toBe("~ yaml-1: state");
    await berthImport([cordoned], "kubernetes");
    const states = (await nodesOf("kubernetes")).map(({ name, state }) => [name, state]);
    expect(states).toContainEqual(["yaml-1", "maintenance"]);
  });

  it("leaves what an operator said of a GPU that the source has no complaint of", async () => {
    const unit = (await nodesOf("nvidia"))[0]?.units.find(({ healthy }) => healthy);
    expect(unit).toBeDefined();
    if (unit) await server.admin.fleet.setUnitHealth({ unitId: unit.id, healthy: false });
    const again = await berthImport(["hgx-01.xml", "hgx-01.topo.txt"].map(fixturePath), "nvidia");
    expect(again.out.at(-1)).toBe("1 nodes: 0 created, 0 changed, 1 unchanged");
    const after = (await nodesOf("nvidia"))[0]?.units.find(({ id }) => id === unit?.id);
    expect(after?.healthy).toBe(false);
  });

  it("that is wrong imports nothing, and the error names file, record and field", async () => {
    const bad = write("scontrol.txt", "CPUTot=64", "CPUTot=lots");
    await expect(berthImport([bad], "broken")).rejects.toThrow(
      `${bad}, record 3 (cpu-01), field CPUTot: must be a whole number`,
    );
    expect(await nodesOf("broken")).toEqual([]);
  });

  it("of an unknown format says how to name it, and a format that there is not is wrong usage", async () => {
    const path = join(folder, "notes.txt");
    writeFileSync(path, "hello\n");
    await expect(berthImport([path], "x")).rejects.toThrow(
      "is in none of the formats that are read",
    );
    const env = { BERTH_URL: server.url, BERTH_TOKEN: ADMIN_KEY };
    const wrong = spawnBerth(["import", path, path, "--site", "x", "--format", "word"], env);
    expect(await wrong.ended).toMatchObject({ code: 2 });
    expect(wrong.stderr()).toContain("--format must be one of berth, openb, kubernetes");
  });

  it("comes in over the command line with several files and the machine's name", async () => {
    const files = ["hgx-01.xml", "hgx-01.topo.txt"].map(fixturePath);
    const env = { BERTH_URL: server.url, BERTH_TOKEN: ADMIN_KEY, BERTH_PLATFORM_ORG: "platform" };
    const args = ["--site", "named", "--node", "m-7", "--dry-run"];
    const dry = spawnBerth(["import", ...files, ...args], env);
    expect(await dry.ended).toMatchObject({ code: 0 });
    expect(dry.stdout().split("\n")[0]).toBe("+ m-7");
  });

  it("tells what it left out on standard error, where it is no data", async () => {
    const told = await berthImport([fixturePath("scontrol.txt")], "slurm-text", true);
    expect(told.err).toContain("gpu-01: Slurm counts MIG instances (7 × 1g.5gb)");
    expect(told.out.join("\n")).not.toContain("MIG instances");
  });
});
