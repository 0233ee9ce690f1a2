import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BookingRequest, gpus, nodes } from "./index.ts";

describe("gpus", () => {
  it.each([
    [8, {}, "8 GPUs on one node", { devices: [{ class: "gpu", count: 8 }] }],
    [1, { together: "rack" }, "1 GPU on one node", { devices: [{ class: "gpu", count: 1 }] }],
    [
      16,
      { together: "rack" },
      "2 × 8 GPUs on nodes of one rack",
      { devices: [{ class: "gpu", count: 8 }], gang: { size: 2, topologyKey: "rack" } },
    ],
    [
      12,
      {},
      "2 × 6 GPUs on any nodes",
      { devices: [{ class: "gpu", count: 6 }], gang: { size: 2 } },
    ],
    [
      16,
      { together: "example.com/spine", perNode: 4, selector: { model: "H100" } },
      "4 × 4 H100 GPUs on nodes of one example.com/spine",
      {
        devices: [{ class: "gpu", count: 4, selector: { model: "H100" } }],
        gang: { size: 4, topologyKey: "example.com/spine" },
      },
    ],
    [
      4,
      { together: "nvlink" },
      "4 GPUs on one node, all in one NVLink domain",
      { devices: [{ class: "gpu", count: 4 }], topology: "nvlink-all" },
    ],
    [
      16,
      { together: "node", perNode: 16 },
      "16 GPUs on one node",
      { devices: [{ class: "gpu", count: 16 }] },
    ],
  ])("%i, kept %j, are %s", (count, options, words, shape) => {
    const made = gpus(count, options);
    expect(made.words).toBe(words);
    expect({ ...made }).toEqual(shape);
    expect(JSON.parse(JSON.stringify(made))).toEqual(shape);
  });

  it("is spread into a request, which then holds nothing else", () => {
    const request: BookingRequest = {
      tenantId: "acme",
      poolId: "pool",
      ...gpus(16, { together: "rack" }),
      duration: "7d",
    };
    expect(Object.keys(request).toSorted()).toEqual(
      ["devices", "duration", "gang", "poolId", "tenantId"].toSorted(),
    );
  });

  it("says what cannot be, and what can", () => {
    const cannot: [() => unknown, string][] = [
      [() => gpus(0), "gpus needs a whole number of at least 1, not 0"],
      [() => gpus(1.5), "gpus needs a whole number of at least 1, not 1.5"],
      [() => gpus(Number.NaN), "not NaN"],
      [() => gpus(8, { perNode: 0 }), "perNode must be a whole number from 1 to 64, not 0"],
      [() => gpus(9, { together: "node" }), 'keep them together by "rack", or say with perNode'],
      [() => gpus(9, { together: "nvlink" }), "more than the 8 of one node"],
      [() => gpus(1_000), "one booking takes at most 512"],
      [() => gpus(127), "ask for 120 or 128"],
      [() => nodes(65, { node: { profileId: "p" } }), "65 nodes are more than the 64"],
      [() => nodes(-1, { node: { profileId: "p" } }), "nodes needs a whole number of at least 1"],
    ];
    for (const [ask, message] of cannot) expect(ask, message).toThrow(message);
    for (const [ask] of cannot) expect(ask).toThrow(RangeError);
  });

  it("asks for exactly as many as were wanted, in the fewest equal members that there are", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 64 }),
        (count, perNode) => {
          const sizes = Array.from({ length: 64 }, (_, at) => at + 1).filter(
            (size) => count % size === 0 && count / size <= perNode,
          );
          const [fewest] = sizes;
          if (fewest === undefined) {
            expect(() => gpus(count, { perNode })).toThrow(RangeError);
            return;
          }
          const { devices, gang } = gpus(count, { perNode });
          expect(devices).toHaveLength(1);
          expect(gang?.size ?? 1).toBe(fewest);
          expect((devices[0]?.count ?? 0) * fewest).toBe(count);
        },
      ),
    );
  });
});

describe("parts", () => {
  it("are equal before they are few", () => {
    expect(gpus(20).words).toBe("4 × 5 GPUs on any nodes");
    expect(gpus(24).words).toBe("3 × 8 GPUs on any nodes");
  });
});

describe("options for callers without types", () => {
  const shapes = { gpus, nodes } as unknown as Record<
    "gpus" | "nodes",
    (count: number, options?: unknown) => unknown
  >;

  it("that are misspelt are refused: something else than was meant would be booked", () => {
    expect(() => shapes.gpus(8, { togehter: "rack" })).toThrow(
      new TypeError('gpus has no option "togehter": it takes together, perNode, selector'),
    );
    expect(() => shapes.nodes(2, { node: {}, profileId: "x" })).toThrow(
      new TypeError('nodes has no option "profileId": it takes together, node'),
    );
  });

  it("that are no object are refused", () => {
    for (const options of [null, "rack", 8])
      expect(() => shapes.gpus(8, options), String(options)).toThrow(
        "gpus needs its options as an object: { together, perNode, selector }",
      );
    expect(() => shapes.nodes(8)).toThrow("nodes needs its options as an object");
  });
});

describe("nodes", () => {
  it.each([
    [1, {}, "1 whole node", { devices: [{ class: "node", count: 1 }] }],
    [4, {}, "4 whole nodes", { devices: [{ class: "node", count: 4 }] }],
    [1, { together: "rack" }, "1 whole node", { devices: [{ class: "node", count: 1 }] }],
    [
      4,
      { together: "rack" },
      "4 whole nodes of one rack",
      { devices: [{ class: "node", count: 1 }], gang: { size: 4, topologyKey: "rack" } },
    ],
  ])("%i, kept %j, are %s", (count, options, words, shape) => {
    const node = { profileId: "ubuntu-24.04" };
    const made = nodes(count, { node, ...options });
    expect(made.words).toBe(words);
    expect({ ...made }).toEqual({ binding: "node", node, ...shape });
  });
});
