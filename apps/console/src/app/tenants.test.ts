import { expect, it } from "vitest";
import { isNoneOfMine, offered } from "./tenants.ts";

const mine = ["lab", "vision"].map((tenantId) => ({ tenantId }));

it("a tenant is one's own, or one of those that one has a role on, or none", () => {
  expect(isNoneOfMine("vision", "lab", mine)).toBe(false);
  expect(isNoneOfMine("fleet", "fleet", mine)).toBe(false);
  expect(isNoneOfMine("nope", "lab", mine)).toBe(true);
});

it("one's own is offered first and once, and of many only some", () => {
  expect(offered("vision", mine)).toEqual({ ids: ["vision", "lab"], left: 0 });
  const many = Array.from({ length: 30 }, (_, n) => ({ tenantId: `t${n}` }));
  expect(offered("t0", many)).toMatchObject({ left: 18 });
});
