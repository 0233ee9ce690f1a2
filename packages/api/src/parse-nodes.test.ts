import { setTimeout } from "node:timers/promises";
import { LIMITS, parseInput } from "@berth/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseNodes } from "./parse-nodes.ts";

const SITE = "site_06h2b4k3qssx1mzm7h5g8d7nfr";
const gpu = (uuid: string, index = 0) => ({ uuid, index, model: "H100", memoryMiB: 81_920 });
const node = (name: string, gpus: readonly object[]) => ({
  name,
  vcpu: 96,
  memoryGiB: 1_024,
  gpus,
});

/** As the whole schema says it, which is the second opinion. */
const whole = (raw: unknown): unknown => parseInput("fleet.putNodes", raw);
const inTurns = (raw: unknown): Promise<unknown> =>
  parseNodes(raw).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => {
      if (!(error instanceof z.ZodError) || !(error instanceof Error)) throw error;
      return { ok: false, count: error.issues.length };
    },
  );

describe("parseNodes", () => {
  const bits = fc.constantFrom<unknown>("a", "", null, 7, -1, undefined, "b".repeat(300));
  const anyGpu = fc.oneof(
    fc.record({ uuid: bits, index: bits, model: bits, memoryMiB: bits }),
    fc.integer({ min: 0, max: 30 }).map((n) => gpu(`gpu-${n}`, n)),
  );
  const anyNode = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("n1", "n2", "n3").map((name) => node(name, [])) },
    fc.record({ name: bits, vcpu: bits, memoryGiB: bits, gpus: fc.array(anyGpu) }),
    bits,
  );
  const anyCall = fc.oneof(
    { weight: 8, arbitrary: fc.record({ siteId: fc.constant(SITE), nodes: fc.array(anyNode) }) },
    fc.record({ siteId: bits, nodes: fc.array(anyNode), more: bits }),
    fc.record({ siteId: fc.constant(SITE), nodes: bits }),
    bits,
  );

  it("accepts what the schema accepts, and gives what it gives", async () => {
    await fc.assert(
      fc.asyncProperty(anyCall, async (raw) => {
        const expected = whole(raw);
        if ((expected as { ok: boolean }).ok) expect(await inTurns(raw)).toEqual(expected);
        else expect(await inTurns(raw)).toMatchObject({ ok: false });
      }),
      { numRuns: 500 },
    );
  });

  it("says of each wrong node where it is wrong, and of a name given twice", async () => {
    const refused = async (raw: unknown): Promise<unknown> =>
      parseNodes(raw).catch((error: unknown) =>
        (error as z.ZodError).issues.map(({ path }) => path),
      );
    expect(
      await refused({ siteId: "x", nodes: [node("a", []), node("b", [gpu("")]), { name: 7 }] }),
    ).toEqual([["siteId"], ["nodes", 1, "gpus", 0, "uuid"], ["nodes", 2, "name"]]);
    expect(await refused({ siteId: SITE, nodes: [node("a", []), node("a", [])] })).toEqual([
      ["nodes", 1, "name"],
    ]);
    const many = Array.from({ length: LIMITS.nodesPerCall + 1 }, (_, n) => node(`n${n}`, []));
    expect(await refused({ siteId: SITE, nodes: many })).toEqual([["nodes"]]);
  });

  it("lets others have their turn while it reads a full report", async () => {
    const nodes = Array.from({ length: LIMITS.nodesPerCall }, (_, n) =>
      node(
        `n${n}`,
        Array.from({ length: 40 }, (__, i) => gpu(`n${n}-${i}`, i)),
      ),
    );
    let turns = 0;
    const reading = parseNodes({ siteId: SITE, nodes });
    const over = reading.then(() => true);
    while (!(await Promise.race([over, setTimeout(0, false)]))) turns += 1;
    expect((await reading).nodes).toHaveLength(nodes.length);
    expect(turns).toBeGreaterThan(4);
  });

  it("stops at the first fifty faults", async () => {
    const wrong = Array.from({ length: 500 }, (_, n) =>
      node(
        `n${n}`,
        Array.from({ length: 40 }, () => gpu("")),
      ),
    );
    const issues = await parseNodes({ siteId: SITE, nodes: wrong }).catch(
      (error: unknown) => (error as z.ZodError).issues.length,
    );
    expect(issues).toBeLessThan(100);
    expect(issues).toBeGreaterThanOrEqual(50);
  });
});
