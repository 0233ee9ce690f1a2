import type { Pool } from "@berth/client";
import { describe, expect, it } from "vitest";
import { matching } from "./matching.ts";

function pool(id: string, given: Partial<Pool> = {}): Pool {
  return {
    id,
    tenantId: "lab",
    siteId: "site",
    region: "eu",
    class: "metal-host",
    gpuModel: "NVIDIA H100",
    sharing: "exclusive",
    agent: "bcd",
    policy: {},
    label: id,
    providerAccountId: null,
    version: 1,
    owned: false,
    archived: false,
    quota: [],
    offer: null,
    offers: null,
    createdAt: 0,
    updatedAt: 0,
    ...given,
  };
}

const all = [
  pool("ten-10"),
  pool("ten-9"),
  pool("own", { owned: true }),
  pool("old", { owned: true, archived: true }),
  pool("cut", { sharing: "mig", gpuModel: "NVIDIA A100", region: "us-east" }),
];
const ids = (search: Parameters<typeof matching>[1]): string[] =>
  matching(all, search).map(({ id }) => id);

describe("the pools that a filter leaves", () => {
  it("are own ones first, then by name as people count, and none that is archived", () => {
    expect(ids({})).toEqual(["own", "cut", "ten-9", "ten-10"]);
  });

  it("are told by whose they are", () => {
    expect(ids({ kind: "owned" })).toEqual(["own"]);
    expect(ids({ kind: "offered" })).toEqual(["cut", "ten-9", "ten-10"]);
    expect(ids({ kind: "archived" })).toEqual(["old"]);
  });

  it("are found by label, model, region and id, and by all filters together", () => {
    expect(ids({ q: " US-e" })).toEqual(["cut"]);
    expect(ids({ q: "a100" })).toEqual(["cut"]);
    expect(ids({ sharing: "mig", model: "NVIDIA A100" })).toEqual(["cut"]);
    expect(ids({ sharing: "mig", model: "NVIDIA H100" })).toEqual([]);
  });
});
