import { describe, expect, it } from "vitest";
import { PlanMoved, unlessMoved } from "./moved.ts";

describe("a plan without a precondition of its own", () => {
  it("is carried out when it is still what was shown", async () => {
    await expect(
      unlessMoved({ offers: [8] }, () => Promise.resolve({ offers: [8] })),
    ).resolves.toBe(undefined);
  });

  it("is not when it has moved, and what stopped it is told apart from other failures", async () => {
    const moved = unlessMoved({ offers: [8] }, () => Promise.resolve({ offers: [9] }));
    await expect(moved).rejects.toBeInstanceOf(PlanMoved);
    const broken = unlessMoved({ offers: [8] }, () => Promise.reject(new Error("away")));
    await expect(broken).rejects.toThrow("away");
  });
});
