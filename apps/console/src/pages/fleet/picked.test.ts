import { expect, it } from "vitest";
import { healthRefusal, vfioRefusal } from "./picked.ts";

const groups = (...all: readonly (string | null)[]) => all.map((vfioGroup) => ({ vfioGroup }));
const sound = (...all: readonly boolean[]) => all.map((healthy) => ({ healthy }));

it("says of the chosen GPUs which lack a VFIO group", () => {
  expect(vfioRefusal(groups("1", "2"))).toBeNull();
  expect(vfioRefusal(groups(null))).toMatch(/^The chosen GPU has no VFIO group/);
  expect(vfioRefusal(groups(null, null))).toMatch(/^The chosen GPUs have no VFIO group/);
  expect(vfioRefusal(groups("1", null, "3"))).toMatch(/^1 GPU of the 3 chosen has no VFIO group/);
});

it("says that the chosen GPUs are so already", () => {
  expect(healthRefusal(sound(true, false), true)).toBeNull();
  expect(healthRefusal(sound(true), true)).toBe("The chosen GPU is sound already.");
  expect(healthRefusal(sound(false, false), false)).toBe("The 2 chosen GPUs are faulty already.");
});
