/** An inventory goes in whole or not at all, says which record is wrong, and twice is as once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, node, spawnBerth, startServer } from "./harness.ts";

const HEADER = "sn,cpu_milli,memory_mib,gpu,model";
const ROWS = [
  "alpha-0001,64000,262144,2,P100",
  "alpha-0002,96000,393216,8,V100M32",
  "alpha-0003,96000,786432,4,T4",
];

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), "berth-import-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

async function berthImport(text: string, ...args: string[]) {
  const file = join(folder, "inventory");
  writeFileSync(file, text);
  const command = spawnBerth(["import", file, ...args], {
    BERTH_URL: server.url,
    BERTH_TOKEN: ADMIN_KEY,
  });
  const { code } = await command.ended;
  return { code, out: command.stdout().trimEnd().split("\n"), err: command.stderr() };
}

async function unitsOf(site: string) {
  const { sites } = await server.admin.fleet.listSites({ tenantId: "platform" });
  const siteId = sites.find(({ name }) => name === site)?.id;
  if (siteId === undefined) return [];
  const { nodes } = await server.admin.fleet.listNodes({ tenantId: "platform", siteId });
  return nodes.flatMap(({ units }) => units);
}

const csv = (rows: readonly string[]) => `${[HEADER, ...rows].join("\n")}\n`;

describe("the openb list", () => {
  it("makes a node a line, its GPUs named after it", async () => {
    const made = await berthImport(csv(ROWS), "--site", "openb");
    expect(made.err).toContain("done in");
    expect(made).toMatchObject({ code: 0 });
    expect(made.out.at(-1)).toBe("3 nodes: 3 created, 0 changed, 0 unchanged");
    const units = await unitsOf("openb");
    expect(units).toHaveLength(14);
    expect(units.map(({ gpuUuid }) => gpuUuid)).toContain("alpha-0002-gpu-7");
    expect(new Set(units.map(({ model }) => model))).toEqual(new Set(["P100", "V100M32", "T4"]));
  });

  it("changes nothing the second time", async () => {
    const again = await berthImport(csv(ROWS), "--site", "openb");
    expect(again.out.at(-1)).toBe("3 nodes: 0 created, 0 changed, 3 unchanged");
  });

  it("shows on a dry run what is new and what differs, and writes nothing", async () => {
    const rows = [ROWS[0] ?? "", "alpha-0002,96000,393216,8,V100M16", "alpha-0004,1000,1024,1,T4"];
    const dry = await berthImport(csv(rows), "--site", "openb", "--dry-run");
    expect(dry.out).toEqual([
      "~ alpha-0002: gpus",
      "+ alpha-0004",
      "3 nodes: 1 created, 1 changed, 1 without a difference that the API shows",
      "not compared, for the API does not show them: vcpu, memoryGiB, hugepages1Gi, gpus[].pciAddress, gpus[].migProfiles, nics[].name, disks[].name",
    ]);
    expect(await unitsOf("openb")).toHaveLength(14);
  });

  it("shows every node of a site that is not there yet as new", async () => {
    const dry = await berthImport(csv(ROWS), "--site", "elsewhere", "--dry-run");
    expect(dry.out.at(-1)).toBe(
      "3 nodes: 3 created, 0 changed, 0 without a difference that the API shows",
    );
    const { sites } = await server.admin.fleet.listSites({ tenantId: "platform" });
    expect(sites.map(({ name }) => name)).not.toContain("elsewhere");
  });

  it.each([
    ["alpha-0003,ninety,1,1,T4", "record 3 (alpha-0003), field cpu_milli: must be a whole number"],
    [
      "alpha-0003,1,1,65,T4",
      "record 3 (alpha-0003), field gpu: must be a whole number from 0 to 64",
    ],
    ["alpha-0003,1,1,2,", "record 3 (alpha-0003), field model: must not be empty"],
    [",1,1,2,T4", "record 3, field sn: must not be empty"],
    ["alpha-0001,1,1,2,T4", "record 3 (alpha-0001), field name: is also the name of record 1"],
    ["alpha-0003,1,1", "record 3"],
  ])("imports nothing of a file with the line %s", async (line, problem) => {
    const site = `bad-${problem.length}`;
    const bad = await berthImport(csv([ROWS[0] ?? "", ROWS[1] ?? "", line]), "--site", site);
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(problem);
    expect(await unitsOf(site)).toEqual([]);
  });

  it("names a column that the header lacks", async () => {
    const bad = await berthImport("sn,cpu_milli,memory_mib,gpu\nx,1,1,1\n", "--site", "s");
    expect(bad).toMatchObject({ code: 2 });
    expect(bad.err).toContain("the header has no column model");
  });
});

describe("our own JSON", () => {
  const site = { tenantId: "platform", name: "json", region: "here" };

  it("is the input of putNodes with the site around it", async () => {
    const made = await berthImport(
      JSON.stringify({ site, nodes: [node("j-1", 2), node("j-2", 4)] }),
    );
    expect(made.out.at(-1)).toBe("2 nodes: 2 created, 0 changed, 0 unchanged");
    expect(await unitsOf("json")).toHaveLength(6);
  });

  it("shows a difference in the memory of a GPU on a dry run, and none when there is none", async () => {
    const bigger = node("j-1", 2);
    const gpus = (bigger.gpus ?? []).map((gpu) => ({ ...gpu, memoryMiB: 143_360 }));
    const nodes = [{ ...bigger, gpus }, node("j-2", 4)];
    const dry = await berthImport(JSON.stringify({ site, nodes }), "--dry-run");
    expect(dry.out.slice(0, 2)).toEqual([
      "~ j-1: gpus",
      "2 nodes: 0 created, 1 changed, 1 without a difference that the API shows",
    ]);
    const units = await unitsOf("json");
    expect(new Set(units.map(({ memoryGiB }) => memoryGiB))).toEqual(new Set([80]));
  });

  it("shows on a dry run that nodes would join the pool, and none that has joined", async () => {
    const tenantId = "platform";
    const { id: siteId } = await server.admin.fleet.putSite({ ...site, name: "joined" });
    const made = await server.admin.pools.create({
      ...{ tenantId, siteId, class: "metal-host", agent: "bcd", sharing: "timeslice" },
      policy: { label: "slots", sharing: { replicas: 2 } },
    });
    const nodes = [node("p-1", 2), node("p-2", 1)];
    const text = JSON.stringify({ site: { ...site, name: "joined" }, nodes });
    await berthImport(text);
    const dry = await berthImport(text, "--dry-run", "--pool", made.id);
    expect(dry.out.slice(0, 2)).toEqual(["~ p-1: pool", "~ p-2: pool"]);
    await berthImport(text, "--pool", made.id);
    const again = await berthImport(text, "--dry-run", "--pool", made.id);
    expect(again.out[0]).toBe(
      "2 nodes: 0 created, 0 changed, 2 without a difference that the API shows",
    );
    const nowhere = await berthImport(text, "--dry-run", "--pool", `pool_${"0".repeat(26)}`);
    expect(nowhere.code).toBe(4);
  });

  it("says on a dry run which changes it cannot see", async () => {
    const dry = await berthImport(
      JSON.stringify({ site, nodes: [node("j-1", 2, { vcpu: 8, memoryGiB: 9 }), node("j-2", 4)] }),
      "--dry-run",
    );
    expect(dry.out[0]).toBe(
      "2 nodes: 0 created, 0 changed, 2 without a difference that the API shows",
    );
    expect(dry.out[1]).toMatch(/^not compared, for the API does not show them: vcpu, memoryGiB,/);
  });

  it.each([
    [{ ...node("j-3", 1), vcpus: 4 }, "record 2 (j-3), field vcpus: is not a field"],
    [{ ...node("j-3", 1), vcpu: -1 }, "record 2 (j-3), field vcpu: must be at least 0"],
    [
      node("j-3", 1, { gpus: [{ uuid: "u", index: 0, model: "" }] }),
      "record 2 (j-3), field gpus[0].model",
    ],
    ["j-3", "record 2: must be an object"],
  ])("imports nothing of a file with the record %j", async (record, problem) => {
    const nodes = [node("j-9", 1), record];
    const bad = await berthImport(JSON.stringify({ site, nodes }));
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(problem);
    expect(await unitsOf("json")).toHaveLength(6);
  });

  it.each([
    ["{", "the file is not JSON"],
    ["[]", 'the file must be an object with "nodes"'],
    ['{"nodes":{}}', "field nodes: must be a list"],
    ['{"nodes":[],"sites":1}', "field sites"],
    ['{"site":{"tenantId":"platform","name":"x"},"nodes":[]}', "site, field region: is missing"],
  ])("refuses %s with what is wrong", async (text, problem) => {
    const bad = await berthImport(text, "--site", "x");
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(problem);
  });

  it("needs a site from the file or the command line", async () => {
    const bad = await berthImport(JSON.stringify({ nodes: [node("j-1", 1)] }));
    expect(bad).toMatchObject({ code: 2 });
    expect(bad.err).toContain("--site");
  });
});

describe("a file of more nodes than one call carries", () => {
  const many = (prefix: string) =>
    Array.from({ length: 600 }, (_, i) => node(`${prefix}-${i + 1}`, 1));
  const gpu = (uuid: string, index = 0) => ({ uuid, index, model: "H100" });

  it.each([
    [
      "a GPU of an earlier record",
      { gpus: [gpu("GPU-whole-1-0")] },
      "field gpus[0].uuid: GPU GPU-whole-1-0 is also on node whole-1",
    ],
    ["a GPU twice", { gpus: [gpu("u"), gpu("u", 1)] }, "field gpus[1].uuid: GPU u is also on node"],
    [
      "an index twice",
      { gpus: [gpu("u"), gpu("v")] },
      "field gpus[1].index: two GPUs have this index",
    ],
    [
      "a card twice",
      {
        nics: [
          { name: "eth0", vfs: 1 },
          { name: "eth0", vfs: 2 },
        ],
      },
      "field nics[1].name: two cards have this name",
    ],
    [
      "a disk twice",
      {
        disks: [
          { name: "d", sizeGiB: 1 },
          { name: "d", sizeGiB: 1 },
        ],
      },
      "field disks[1].name: two disks have this name",
    ],
  ])("is refused whole when record 551 has %s", async (_what, parts, problem) => {
    const nodes = many("whole");
    nodes[550] = node("whole-551", 1, parts);
    const site = { tenantId: "platform", name: "whole", region: "here" };
    const bad = await berthImport(JSON.stringify({ site, nodes }));
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(`record 551 (whole-551), ${problem}`);
    const { sites } = await server.admin.fleet.listSites({ tenantId: "platform" });
    expect(sites.map(({ name }) => name)).not.toContain("whole");
  });

  it("goes in several calls; what stands in the way on the server is told by its record", async () => {
    const site = { tenantId: "platform", name: "parts", region: "here" };
    const taken = node("there-already", 1, { gpus: [gpu("GPU-taken")] });
    expect((await berthImport(JSON.stringify({ site, nodes: [taken] }))).code).toBe(0);
    const nodes = many("parts");
    nodes[550] = node("parts-551", 1, { gpus: [gpu("GPU-taken")] });
    const bad = await berthImport(JSON.stringify({ site, nodes }));
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(
      "record 551 (parts-551), field gpus[0].uuid: GPU GPU-taken is on node there-already already " +
        "(the 500 nodes before this call are in)",
    );
    nodes[550] = node("parts-551", 1);
    const mended = await berthImport(JSON.stringify({ site, nodes }));
    expect(mended.out.at(-1)).toBe("600 nodes: 100 created, 0 changed, 500 unchanged");
  });
});
