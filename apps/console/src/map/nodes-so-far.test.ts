import type { ListNodesInput, NodePage, NodeSchedule } from "@berth/client";
import { describe, expect, it } from "vitest";
import { knownOf, nodePages } from "./node-pages.ts";
import { NOTHING_READ, progressText, withPage } from "./nodes-so-far.ts";
import type { NodesRead, NodesSoFar } from "./nodes-so-far.ts";
import { someNode } from "./test-kit.ts";

const node = (id: string, name = id): NodeSchedule => someNode({ id, name });

const ids = ({ nodes }: NodesSoFar): string[] => nodes.map(({ id }) => id);

describe("nodes as they are read", () => {
  const first: NodesRead = { nodes: [node("a", "read")], atGlance: false, isLast: false };
  const glance: NodesRead = {
    nodes: [node("a", "glanced"), node("b"), node("c")],
    atGlance: true,
    isLast: true,
  };

  it("are there at a glance, and what was read is not given up for it", () => {
    const soFar = [first, glance].reduce(withPage, NOTHING_READ);
    expect(ids(soFar)).toEqual(["a", "b", "c"]);
    expect(soFar.nodes[0]?.name).toBe("read");
    expect(soFar.unread).toEqual(["b", "c"]);
    expect(soFar.isWhole).toBe(false);
  });

  it("are whole with the last page, without those that have gone meanwhile", () => {
    const last: NodesRead = { nodes: [node("c", "read")], atGlance: false, isLast: true };
    const soFar = [first, glance, last].reduce(withPage, NOTHING_READ);
    expect(ids(soFar)).toEqual(["a", "c"]);
    expect(soFar).toMatchObject({ unread: [], isWhole: true });
  });

  it("say how far they are", () => {
    const one = withPage(NOTHING_READ, first);
    expect(progressText(one)).toBe("1 node so far; more are being read.");
    expect(progressText(withPage(one, glance))).toBe(
      "All 3 nodes are here. What is booked on them is read: 1 so far.",
    );
    expect(progressText(withPage(one, { nodes: [], atGlance: false, isLast: true }))).toBe(null);
  });
});

describe("the pages that are asked for", () => {
  const asked: ListNodesInput[] = [];
  /** Two pages of what is asked at length, one of a moment. */
  async function* ask(input: ListNodesInput): AsyncGenerator<NodePage> {
    asked.push(input);
    const isMoment = input.to !== undefined && input.to - (input.from ?? 0) <= 1_000;
    if (isMoment) yield { nodes: [node("a"), node("b")], nextCursor: null };
    else {
      yield { nodes: [node("a")], nextCursor: "next" };
      yield { nodes: [node("b")], nextCursor: null };
    }
  }
  const readAll = async (
    input: ListNodesInput,
    known: readonly NodeSchedule[] | null,
  ): Promise<NodesRead[]> => {
    asked.length = 0;
    return Array.fromAsync(nodePages(ask, input, known));
  };

  it("are the first one, then all at a glance, then the rest", async () => {
    const pages = await readAll({ tenantId: "t" }, null);
    expect(pages.map(({ atGlance, nodes }) => [atGlance, nodes.length])).toEqual([
      [false, 1],
      [true, 2],
      [false, 1],
    ]);
    expect(asked).toHaveLength(2);
  });

  it("glance at a time that is asked about", async () => {
    await readAll({ tenantId: "t", from: 5_000, to: 9_000 }, null);
    expect(asked[1]).toMatchObject({ from: 5_000, to: 6_000 });
  });

  it("ask nothing for the glance when the nodes are known of another window", async () => {
    const pages = await readAll({ tenantId: "t" }, [node("a"), node("b")]);
    expect(pages[1]).toMatchObject({ atGlance: true, isLast: true });
    expect(asked).toHaveLength(1);
  });

  it("are known of the same pool alone, and only when they were read to the end", () => {
    const key = (input: ListNodesInput): readonly unknown[] => [
      "berth",
      "fleet",
      "listNodes",
      input,
      "all",
    ];
    const whole: NodesSoFar = { ...NOTHING_READ, nodes: [node("a")], isWhole: true };
    const input = { tenantId: "t", poolId: "p" };
    expect(knownOf([[key({ ...input, from: 1, to: 2 }), whole]], input)).toEqual(whole.nodes);
    expect(knownOf([[key({ tenantId: "t", poolId: "q" }), whole]], input)).toBe(null);
    expect(knownOf([[key(input), NOTHING_READ]], input)).toBe(null);
    expect(knownOf([[key(input), undefined]], input)).toBe(null);
  });
});
