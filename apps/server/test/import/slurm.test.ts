/** Slurm's outputs of one cluster say the same, and its configuration says as much as it can. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGres } from "../../src/import/slurm/gres.ts";
import { HOSTS_MAX, expandHostlist } from "../../src/import/slurm/hostlist.ts";
import { nodeStateOf } from "../../src/import/slurm/state.ts";
import { changed, fixture, gpuCount, nodeNamed, read } from "./support.ts";

const text = read(["scontrol.txt"]);

describe("scontrol show nodes", () => {
  it("tells address, CPUs, memory, GPUs by type, and everything else as labels", () => {
    expect(nodeNamed(text, "gpu-01")).toEqual({
      name: "gpu-01",
      address: "10.0.2.1",
      state: "ready",
      vcpu: 128,
      memoryGiB: 1_006,
      labels: {
        ib: "true",
        rack: "r1",
        "slurm.partition/batch": "true",
        "slurm.partition/debug": "true",
        "slurm.gres/shard": "32",
        "nvidia.com/mig-1g.5gb.count": "7",
      },
      gpus: [0, 1, 2, 3].map((index) => ({ uuid: `gpu-01-gpu-${index}`, index, model: "h100" })),
    });
  });

  it("has no GPU that is known only by its MIG instances, and says so", () => {
    expect(text.notes).toEqual([
      expect.stringMatching(/^gpu-01: Slurm counts MIG instances \(7 × /),
    ]);
  });

  it("is not misled by what people and kernels write", () => {
    expect(text.nodes.map(({ name, state }) => [name, state])).toEqual([
      ["gpu-01", "ready"],
      ["gpu-02", "unreachable"],
      ["cpu-01", "maintenance"],
    ]);
  });

  it("says the same as a line a node, and as JSON in both layouts", () => {
    const lines = fixture("scontrol.txt").text.trim().split("\n\n");
    const oneliner = lines.map((record) =>
      record.replaceAll(/\s*\n\s+/g, " ").replace("State=odd", ""),
    );
    const other = [
      read([{ file: "oneliner", text: oneliner.join("\n") }]),
      read(["sinfo-22.05.json"]),
      read(["nodes-24.11.json"]),
    ];
    for (const { nodes } of other) expect(nodes).toEqual(text.nodes);
    expect([text.nodes.length, gpuCount(text)]).toEqual([3, 6]);
  });

  it.each([
    ["Gres=gpu:2", "Gres=gpu:::", "record 2 (gpu-02), field Gres: "],
    ["Gres=gpu:2", "Gres=gpu:65", "record 2 (gpu-02), field Gres: has 65 GPUs"],
    ["CPUTot=64", "CPUTot=all", "record 3 (cpu-01), field CPUTot: must be a whole number"],
    ["State=MIXED+PLANNED", "State=HAPPY", 'record 1 (gpu-01), field State: "HAPPY" is no state'],
    [
      "NodeName=cpu-01",
      "NodeName=gpu-01",
      "record 3 (gpu-01), field name: is also the name of rec",
    ],
  ])("with %s as %s is refused whole, with file, node and field", (from, to, problem) => {
    expect(() => read([changed("scontrol.txt", from, to)])).toThrow(`scontrol.txt, ${problem}`);
  });
});

describe("nodes as JSON", () => {
  it.each([
    ["sinfo-22.05.json", '"cpus": 64', '"cpus": "64"', "record 3 (cpu-01), field cpus"],
    ["sinfo-22.05.json", '"state": "mixed"', '"state": "merry"', "record 1 (gpu-01), field state"],
    ["nodes-24.11.json", '"gpu:2"', '"gpu:2:2:2"', "record 2 (gpu-02), field gres"],
    ["nodes-24.11.json", '"IDLE"', "7", "record 2 (gpu-02), field state"],
  ])("in %s with %s as %s are refused whole", (file, from, to, problem) => {
    expect(() => read([changed(file, from, to)])).toThrow(`${file}, ${problem}`);
  });

  it("may have trackable resources in place of a text", () => {
    const gres =
      '[{"type":"gres","name":"gpu:l4","count":2},{"name":"gpu","type":"a10","count":1}]';
    const { nodes } = read([changed("nodes-24.11.json", '"gpu:2"', gres)]);
    expect(nodes[1]?.gpus?.map(({ model }) => model)).toEqual(["l4", "l4", "a10"]);
  });

  it("are not what sinfo prints of later versions, which says what to export", () => {
    const grouped = { file: "sinfo.json", text: '{"sinfo":[],"meta":{},"errors":[]}' };
    expect(() => read([grouped])).toThrow("sinfo.json: sinfo --json of this version groups nodes");
  });
});

describe("slurm.conf", () => {
  const conf = read(["slurm.conf", "gres.conf"]);

  it("makes a node of each name, with the defaults above it and the address at its place", () => {
    expect(conf.nodes.map(({ name }) => name)).toEqual([
      ...["gpu-01", "gpu-02", "old-1", "old-2", "old-3", "old-7", "cpu-01"],
    ]);
    const { address, vcpu, memoryGiB } = nodeNamed(conf, "gpu-02");
    expect({ address, vcpu, memoryGiB }).toEqual({
      address: "10.0.2.2",
      vcpu: 128,
      memoryGiB: 1_006,
    });
    expect(nodeNamed(conf, "cpu-01").vcpu).toBe(64);
  });

  it("takes nodes out of service that it sets aside, and says of no other that it is ready", () => {
    expect(conf.nodes.map(({ state }) => state)).toEqual([
      ...[
        undefined,
        undefined,
        "maintenance",
        "maintenance",
        "maintenance",
        "unhealthy",
        undefined,
      ],
    ]);
  });

  it("labels nodes with their partitions, by name, by set and all of them", () => {
    expect(nodeNamed(conf, "gpu-01").labels).toMatchObject({ "slurm.partition/debug": "true" });
    expect(nodeNamed(conf, "old-2").labels).toEqual({ "slurm.partition/batch": "true" });
  });

  it("has its GPUs numbered and joined as gres.conf tells", () => {
    const gpus = nodeNamed(conf, "gpu-01").gpus ?? [];
    expect(gpus.map(({ index, nvlinkDomain }) => [index, nvlinkDomain])).toEqual([
      [2, "nvlink:gpu-01-gpu-2"],
      [3, "nvlink:gpu-01-gpu-2"],
      [4, undefined],
      [5, undefined],
    ]);
  });

  it.each([
    [
      "slurm.conf",
      "Gres=gpu:2",
      "Gres=gpu:3",
      "slurm.conf, line 8 (old-1), field Gres: has 3 of gpu, and gres.conf 2",
    ],
    [
      "slurm.conf",
      "old-[1-3,7]",
      "old-[3-1]",
      'slurm.conf, line 8 (old-[3-1]), field NodeName: "old-[3-1]" is not',
    ],
    [
      "slurm.conf",
      "10.0.2.[1-2]",
      "10.0.2.[1-3]",
      "slurm.conf, line 6 (gpu-[01-02]), field NodeAddr: names 3",
    ],
    ["slurm.conf", "CPUs=64", "CPUs=lots", "slurm.conf, line 8 (old-[1-3,7]), field cpus: must be"],
    ["gres.conf", "Count=7", "Count=lots", "gres.conf, line 5: Count: must be a number"],
    ["gres.conf", "0,0,-1,18", "0,0,-1,many", "gres.conf, line 2: Links: must be numbers"],
  ])("with %s having %s as %s is refused whole", (file, from, to, problem) => {
    const other = file === "slurm.conf" ? "gres.conf" : "slurm.conf";
    expect(() => read([changed(file, from, to), other])).toThrow(problem);
  });

  it("is missing when there is only a gres.conf", () => {
    expect(() => read(["gres.conf"])).toThrow("give slurm.conf or scontrol show nodes as well");
  });
});

it("keeps what Slurm says of a machine and takes its GPUs from nvidia-smi", () => {
  const xml = { ...fixture("hgx-01.xml"), file: "gpu-01.xml" };
  const both = read(["scontrol.txt", xml]);
  const node = nodeNamed(both, "gpu-01");
  expect(node).toMatchObject({
    vcpu: 128,
    state: "ready",
    labels: { rack: "r1", "mig.gpus": "1" },
  });
  expect(node.gpus?.map(({ uuid }) => uuid.slice(0, 12))).toEqual(
    Array.from({ length: 4 }, () => "GPU-11111111"),
  );
  expect(both.nodes).toHaveLength(3);
  expect(both.notes).toEqual([]);
});

describe("a list of names", () => {
  it.each([
    ["n1", ["n1"]],
    ["n[1-3,7],login", ["n1", "n2", "n3", "n7", "login"]],
    ["n[08-11]", ["n08", "n09", "n10", "n11"]],
    ["r[1-2]n[1-2]-ib", ["r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"]],
    ["", []],
  ])("%s is %j", (list, names) => {
    expect(expandHostlist(list)).toEqual(names);
  });

  it.each(["n[1-99999999]", "n[1-65537]", "a[1-300]b[1-300]", "n[1-40000],m[1-40000]"])(
    "%s is refused before it is made",
    (list) => {
      expect(() => expandHostlist(list)).toThrow(`stands for more than ${HOSTS_MAX} names`);
    },
  );

  it.each(["n[3-1]", "n[", "n]", "n[a-b]", "n[1-]", "n[]", "n[[1-2]]", "n[1-2", "n[-1]"])(
    "%s is none",
    (list) => {
      expect(() => expandHostlist(list)).toThrow("is not a list of names");
    },
  );

  it("gives back the names that it was folded from, in order", () => {
    const range = fc.record({
      prefix: fc.constantFrom("n", "gpu-", "a0b"),
      low: fc.nat(2_000),
      length: fc.integer({ min: 1, max: 40 }),
      width: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), (ranges) => {
        const pad = (number: number, width: number) => String(number).padStart(width, "0");
        const names = ranges.flatMap(({ prefix, low, length, width }) =>
          Array.from({ length }, (_, i) => `${prefix}${pad(low + i, width)}`),
        );
        const folded = ranges.map(
          ({ prefix, low, length, width }) =>
            `${prefix}[${pad(low, width)}-${pad(low + length - 1, width)}]`,
        );
        expect(expandHostlist(folded.join(","))).toEqual(names);
      }),
    );
  });
});

describe("a generic resource", () => {
  it.each([
    ["gpu:8", [{ name: "gpu", type: null, count: 8 }]],
    [
      "gpu:h100:8(S:0,1),shard:2K",
      [
        { name: "gpu", type: "h100", count: 8 },
        { name: "shard", type: null, count: 2_048 },
      ],
    ],
    ["gpu:tesla:no_consume:2", [{ name: "gpu", type: "tesla", count: 2 }]],
    ["gpu:h100", [{ name: "gpu", type: "h100", count: 1 }]],
    ["gpu", [{ name: "gpu", type: null, count: 1 }]],
    ["(null)", []],
    ["gpu:1:2:3", null],
    [":8", null],
  ])("%s is %j", (gres, parsed) => {
    expect(parseGres(gres)).toEqual(parsed);
  });
});

describe("a state of Slurm's", () => {
  it.each([
    ["IDLE", "ready"],
    ["ALLOCATED+COMPLETING", "ready"],
    ["IDLE+CLOUD+POWERED_DOWN", "ready"],
    ["IDLE+RESERVED", "ready"],
    ["MIXED+DRAIN", "maintenance"],
    ["IDLE+MAINTENANCE+RESERVED", "maintenance"],
    ["DOWN+DRAIN", "unhealthy"],
    ["IDLE+FAIL", "unhealthy"],
    ["DOWN*+CLOUD", "unreachable"],
    ["DOWN+NOT_RESPONDING", "unreachable"],
    ["FUTURE", "provisioning"],
    ["UNKNOWN", "provisioning"],
    ["drained~", "maintenance"],
    ["IDLE+FLAG_OF_NEXT_YEAR", "ready"],
    ["HAPPY", null],
  ])("%s is %s", (words, state) => {
    expect(nodeStateOf(words.split("+"))).toBe(state);
  });
});
