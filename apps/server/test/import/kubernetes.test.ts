/** What kubectl prints of nodes and ResourceSlices becomes machines, each GPU under a key that stays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuantity } from "../../src/import/kubernetes/quantity.ts";
import { changed, gpuCount, nodeNamed, read } from "./support.ts";

const all = read(["kubernetes.json"]);
const gpusOf = (name: string) => nodeNamed(all, name).gpus ?? [];

describe("a node of the device plugin", () => {
  it("has CPUs, memory and huge pages of its capacity, its address and its labels", () => {
    const { vcpu, memoryGiB, hugepages1Gi, address, labels } = nodeNamed(all, "whole-1");
    expect({ vcpu, memoryGiB, hugepages1Gi, address }).toEqual({
      vcpu: 128,
      memoryGiB: 1_007,
      hugepages1Gi: 32,
      address: "10.0.0.11",
    });
    expect(labels).toMatchObject({
      "topology.kubernetes.io/zone": "hall-1",
      "nvidia.com/mig.strategy": "mixed",
    });
  });

  it("keeps no label that changes while the node does not", () => {
    expect(Object.keys(nodeNamed(all, "whole-1").labels ?? {})).not.toContain(
      "nvidia.com/gfd.timestamp",
    );
  });

  it("has GPUs named after it, of the model and memory that feature discovery tells", () => {
    expect(gpusOf("whole-1")).toHaveLength(8);
    expect(gpusOf("whole-1")[3]).toEqual({
      uuid: "whole-1-gpu-3",
      index: 3,
      model: "NVIDIA-A100-SXM4-80GB",
      memoryMiB: 81_920,
    });
  });

  it("has as many faulty GPUs as the kubelet holds back, and says of no other that it is sound", () => {
    expect(gpusOf("whole-1").map(({ healthy }) => healthy)).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      false,
    ]);
  });

  it("counts a shared GPU once, under the model without the mark of sharing", () => {
    expect(gpusOf("sliced-1").map(({ model }) => model)).toEqual(
      Array.from({ length: 4 }, () => "NVIDIA-L40S"),
    );
  });

  it("counts GPUs in MIG mode with the others where both are told apart", () => {
    expect(gpusOf("mixed-1")).toHaveLength(4);
  });

  it("has no GPU that is known only by its MIG instances, and says so", () => {
    expect(gpusOf("single-1")).toEqual([]);
    expect(all.notes).toContainEqual(expect.stringMatching(/^single-1: it counts MIG instances/));
  });

  it("shares an NVLink domain with every node of its clique", () => {
    const domains = new Set(gpusOf("rack-1").map(({ nvlinkDomain }) => nvlinkDomain));
    expect([...domains]).toEqual(["5c6f1f6e-2b1d-4d0e-9c57-0d0a7f3f1a11.7"]);
  });

  it("has GPUs of an unknown model without feature discovery, and says so", () => {
    expect(gpusOf("bare-1").map(({ model }) => model)).toEqual(["unknown", "unknown"]);
    expect(all.notes).toContainEqual(expect.stringMatching(/^bare-1: has no label nvidia/));
  });

  it.each([
    ["whole-1", "ready"],
    ["rack-1", "maintenance"],
    ["bare-1", "unreachable"],
    ["cpu-1", "unhealthy"],
  ])("%s is %s by its conditions", (name, state) => {
    expect(nodeNamed(all, name).state).toBe(state);
  });

  it("leaves out the labels that a node has no room for, those of the kernel and CPU first", () => {
    const many = Array.from({ length: 80 }, (_, i) => `"feature.node.kubernetes.io/f${i}": "true"`);
    const crowded = read([
      changed("kubernetes.json", '"kubernetes.io/arch": "amd64"', many.join()),
    ]);
    const labels = Object.keys(crowded.nodes[0]?.labels ?? {});
    expect(labels).toHaveLength(64);
    expect(labels).toContain("nvidia.com/gpu.product");
    expect(crowded.notes).toContainEqual(expect.stringMatching(/^whole-1: \d+ labels left out/));
  });
});

describe("ResourceSlices", () => {
  it("name the GPUs of their node by UUID, under the newest generation of the pool alone", () => {
    expect(gpusOf("dra-1").map(({ uuid, index }) => [uuid, index])).toEqual([
      ["GPU-00000000-0000-4000-8000-000000000000", 0],
      ["GPU-00000000-0000-4000-8000-000000000001", 1],
      ["GPU-00000000-0000-4000-8000-000000000002", 2],
    ]);
  });

  it("tell model, memory, PCI address, a fault, and where MIG instances may be placed", () => {
    const [first, second] = gpusOf("dra-1");
    expect(first).toEqual({
      uuid: "GPU-00000000-0000-4000-8000-000000000000",
      index: 0,
      model: "NVIDIA H100 80GB HBM3",
      memoryMiB: 81_559,
      pciAddress: "0000:1b:00.0",
      migProfiles: [
        { profile: "1g.10gb", size: 1, starts: [0, 6] },
        { profile: "3g.40gb", size: 4, starts: [0, 4] },
      ],
    });
    expect(second?.healthy).toBe(false);
  });

  it("count the MIG instances that exist in a label of their profile", () => {
    expect(nodeNamed(all, "dra-1").labels).toMatchObject({ "nvidia.com/mig-1g.10gb.count": "1" });
  });

  it("are read as v1beta1 has them, numbered by the minor number and not by the order", () => {
    const old = read(["resourceslices-v1beta1.json"]);
    expect(
      nodeNamed(old, "dra-2").gpus?.map(({ index, pciAddress }) => [index, pciAddress]),
    ).toEqual([
      [0, "0000:07:00.0"],
      [1, "0000:0f:00.0"],
    ]);
    expect(old.notes).toEqual([expect.stringMatching(/^dra-2: only its ResourceSlices/)]);
  });

  it("of other drivers are left out, and named", () => {
    expect(all.notes).toContain("ResourceSlices of other drivers left out: dra.example.net");
  });
});

describe("a file", () => {
  it("is read as YAML like as JSON", () => {
    expect(read(["nodes.yaml"]).nodes).toEqual([
      expect.objectContaining({ name: "yaml-1", vcpu: 16, memoryGiB: 62, state: "ready" }),
    ]);
  });

  it("says the same whatever is said twice: keys do not depend on anything else in it", () => {
    expect(read(["kubernetes.json"]).nodes).toEqual(all.nodes);
    expect([all.nodes.length, gpuCount(all)]).toEqual([8, 8 + 4 + 4 + 0 + 4 + 2 + 0 + 3]);
  });

  it.each([
    ['"cpu": "128"', '"cpu": "many"', 'record 1 (whole-1), field status.capacity.cpu: "many"'],
    [
      '"nvidia.com/gpu": "40"',
      '"nvidia.com/gpu": "41"',
      "record 2 (sliced-1), field status.capacity",
    ],
    ['"nvidia.com/gpu": "8"', '"nvidia.com/gpu": "9"', "record 1 (whole-1), field status.capacity"],
    [
      '"nvidia.com/gpu": "2"',
      '"nvidia.com/gpu": "1e9"',
      "record 3 (mixed-1), field status.capacity",
    ],
    [
      '"nvidia.com/gpu.count": "8"',
      '"nvidia.com/gpu.count": "8x"',
      "record 1 (whole-1), field meta",
    ],
    ['"name": "sliced-1"', '"name": "whole-1"', "record 2 (whole-1), field name: is also the name"],
    ['"name": "sliced-1"', '"nom": "sliced-1"', "record 2, field metadata.name: is missing"],
    ['"resourceSliceCount": 2', '"resourceSliceCount": 3', "the file has 2 of the 3 slices"],
    ['"generation": 4', '"generation": 5', "the file has 1 of the 2 slices of pool dra-1"],
    ["resource.k8s.io/v1", "resource.k8s.io/v1alpha3", "record 9 (dra-1-old), field apiVersion"],
    ['"81559Mi"', '"all"', "field spec.devices[0].capacity.memory"],
  ])("with %s as %s is refused whole, with file, record and field", (from, to, problem) => {
    const bad = changed("kubernetes.json", from, to);
    expect(() => read([bad])).toThrow(`kubernetes.json, ${problem.startsWith("r") ? problem : ""}`);
    expect(() => read([bad])).toThrow(problem);
  });
});

describe("a quantity", () => {
  it.each([
    ["1", 1],
    ["63500m", 63.5],
    ["3m", 0.003],
    ["1.5Gi", 1_610_612_736],
    ["2E", 2e18],
    ["2e3", 2_000],
    [".5", 0.5],
    ["128k", 128_000],
    [64, 64],
  ])("%s is %d", (text, value) => {
    expect(parseQuantity(text)).toBe(value);
  });

  it.each(["", "-1", "1gi", "1 Gi", "Gi", "1e", "0x10", "1Gib", "NaN", "1e999", "."])(
    "%j is none",
    (text) => {
      expect(parseQuantity(text)).toBeNull();
    },
  );

  it("of any whole number and binary suffix is the exact product", () => {
    const suffix = fc.constantFrom(...["Ki", "Mi", "Gi", "Ti"].entries());
    fc.assert(
      fc.property(fc.nat(4_096), suffix, (count, [power, name]) => {
        expect(parseQuantity(`${count}${name}`)).toBe(count * 1_024 ** (power + 1));
      }),
    );
  });
});
