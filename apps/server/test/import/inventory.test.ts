/**
 * Every file of the inventory beside the project, as the tools themselves wrote it. Where the project stands
 * alone the files are not there, and the run says that they were not read.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { formatOf } from "../../src/import/formats.ts";
import { gpuCount, read } from "./support.ts";

const ROOT = new URL("../../../../../shared/", import.meta.url);
const INVENTORY = new URL("data/inventory/", ROOT);
const OPENB = new URL("bench/trace/data/openb_node_list_gpu_node.csv", ROOT);
const there = existsSync(INVENTORY);

const said: string[] = [];
const sourceOf = (url: URL) => ({
  file: fileURLToPath(url).split("/").at(-1) ?? "",
  text: readFileSync(url, "utf8"),
});
const sources = (...names: string[]) => names.map((name) => sourceOf(new URL(name, INVENTORY)));

function counts(names: readonly string[]): { nodes: number; gpus: number } {
  const document = read(sources(...names));
  const found = { nodes: document.nodes.length, gpus: gpuCount(document) };
  said.push(`${names.join(" + ")}: ${found.nodes} nodes, ${found.gpus} GPUs`);
  return found;
}

afterAll(() => {
  for (const line of said) process.stdout.write(`inventory: ${line}\n`);
});

it("says whether the real files were read", () => {
  if (!there)
    said.push(
      "NOT READ: there are no real inventory files beside the project (../shared/data/inventory)",
    );
  expect(there || said.length === 1).toBe(true);
});

describe.runIf(there)("the real files", () => {
  it.each([
    ["a100-sxm4-v12.xml", "NVIDIA A100-SXM4-80GB", 81_920],
    ["a10g.xml", "NVIDIA A10G", 23_028],
    ["rtx-3080-v13.xml", "NVIDIA GeForce RTX 3080", 10_240],
    ["rtx-4000-sff-ada-v13.xml", "NVIDIA RTX 4000 SFF Ada Generation", 20_475],
    ["tesla-t4.xml", "Tesla T4", 15_360],
  ])("of nvidia-smi: %s is a machine with one %s", (file, model, memoryMiB) => {
    expect(counts([`nvidia-smi/${file}`])).toEqual({ nodes: 1, gpus: 1 });
    const [node] = read(sources(`nvidia-smi/${file}`)).nodes;
    expect(node?.gpus).toEqual([
      expect.objectContaining({ model, memoryMiB, uuid: expect.stringMatching(/^GPU-/) as string }),
    ]);
    expect(node?.gpus?.[0]?.healthy).toBeUndefined();
  });

  it("of nvidia-smi: the A100 is in MIG mode with four instances", () => {
    const [node] = read(sources("nvidia-smi/a100-sxm4-v12.xml")).nodes;
    expect(node?.labels).toMatchObject({ "mig.gpus": "1", "mig.instances": "4" });
    expect(node?.gpus?.[0]?.index).toBe(1);
  });

  it("of Slurm: 13 nodes with 64 whole GPUs, whichever output tells", () => {
    const cluster = { nodes: 13, gpus: 64 };
    expect(counts(["slurm/nodes.txt"])).toEqual(cluster);
    expect(counts(["slurm/sinfo.json"])).toEqual(cluster);
    expect(counts(["slurm/slurm.conf"])).toEqual(cluster);
    expect(counts(["slurm/slurm.conf", "slurm/gres.conf"])).toEqual(cluster);
    expect(read(sources("slurm/sinfo.json")).nodes).toEqual(read(sources("slurm/nodes.txt")).nodes);
  });

  it("of Slurm: one node is drained, one is down, and the configuration knows of neither", () => {
    const notReady = read(sources("slurm/nodes.txt")).nodes.filter(
      ({ state }) => state !== "ready",
    );
    expect(notReady.map(({ name, state }) => [name, state])).toEqual([
      ["h100-03", "maintenance"],
      ["l40s-02", "unhealthy"],
    ]);
    const configured = read(sources("slurm/slurm.conf", "slurm/gres.conf"));
    const bare = ({ nodes }: typeof configured) =>
      nodes
        .map((node) => ({ ...node, state: null }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(bare(configured)).toEqual(bare(read(sources("slurm/nodes.txt"))));
  });

  it("of Slurm: its reservations are known for what they are, and are not machines", () => {
    expect(() => read(sources("slurm/reservations.txt"))).toThrow(
      "reservations of Slurm, not machines",
    );
    said.push("slurm/reservations.txt: known as reservations, which are not machines");
  });

  it("are all of a format that is known", () => {
    const all = ["nvidia-smi", "slurm"].flatMap((folder) =>
      readdirSync(new URL(folder, INVENTORY)).map((name) => `${folder}/${name}`),
    );
    const machines = all.filter((name) => !name.endsWith("reservations.txt"));
    expect(all).toHaveLength(10);
    for (const source of sources(...machines)) expect(() => formatOf(source)).not.toThrow();
  });
});

describe.runIf(existsSync(OPENB))("the real openb list", () => {
  it("has 1,213 nodes with 6,212 GPUs", () => {
    const document = read([sourceOf(OPENB)]);
    const found = { nodes: document.nodes.length, gpus: gpuCount(document) };
    said.push(`openb_node_list_gpu_node.csv: ${found.nodes} nodes, ${found.gpus} GPUs`);
    expect(found).toEqual({ nodes: 1_213, gpus: 6_212 });
  });
});
