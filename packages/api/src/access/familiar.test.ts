import type { TenantId } from "@berth/domain";
import { expect, it } from "vitest";
import { createFamiliar } from "./familiar.ts";

const lab = "lab" as TenantId;
const vision = "vision" as TenantId;

it("knows whose a token is for an hour after it was last accepted, and no other", () => {
  let now = 0;
  const familiar = createFamiliar(() => now);
  familiar.met("a", lab);
  now = 3_000_000;
  expect([familiar.tenantOf("a"), familiar.tenantOf("b")]).toEqual([lab, null]);
  familiar.met("a", vision);
  now = 6_599_999;
  expect(familiar.tenantOf("a")).toBe(vision);
  now = 6_600_000;
  expect(familiar.tenantOf("a")).toBeNull();
});

it("forgets the one that was met longest ago when there are too many", () => {
  const familiar = createFamiliar(() => 0);
  for (let n = 0; n < 50_000; n += 1) familiar.met(`token ${n}`, lab);
  familiar.met("token 0", lab);
  familiar.met("one more", lab);
  expect(familiar.tenantOf("token 0")).toBe(lab);
  expect(familiar.tenantOf("token 1")).toBeNull();
  expect(familiar.tenantOf("one more")).toBe(lab);
});
