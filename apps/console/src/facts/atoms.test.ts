import type { Atom, Member } from "@berth/client";
import { expect, it } from "vitest";
import { concernedText, membersByName } from "./atoms.ts";

const atom = (index: number, node: string): Atom => ({
  unitId: `${node}/${index}`,
  class: "gpu",
  model: null,
  profile: null,
  gpuUuid: null,
  index,
  parentUnitId: null,
});
const member = (nodeName: string, index: number): Member =>
  ({
    index,
    nodeId: nodeName,
    nodeName,
    atoms: [0, 1, 2, 3].map((number) => atom(number, nodeName)),
  }) as unknown as Member;
const members = [member("h100-10", 0), member("h100-04", 1), member("h100-01", 2)];

it("members are listed by the names of their nodes", () => {
  const names = membersByName({ members }).map(({ nodeName }) => nodeName);
  expect(names).toEqual(["h100-01", "h100-04", "h100-10"]);
  expect(membersByName({ members: null })).toEqual([]);
});

it("what is concerned is named as it is listed, and counted only where it is not known", () => {
  const units = ["h100-10/2", "h100-04/1", "h100-04/2", "h100-04/3"];
  expect(concernedText({ members }, units)).toBe("GPU 1–3 on h100-04, GPU 2 on h100-10");
  expect(concernedText({ members }, ["h100-01/0", "gone"])).toBe("GPU 0 on h100-01, 1 other unit");
});
