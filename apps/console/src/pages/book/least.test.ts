import type { BookingShape } from "@berth/client";
import { expect, it } from "vitest";
import { leastOf } from "./least.ts";
import { fromLink } from "./link.ts";

const pool = { id: "pool_x", perNode: 8 };
const wish = (search: Parameters<typeof fromLink>[0]) => ({
  form: fromLink(search, "gpu", 0).form,
  tenantId: "vision",
  pool,
});
const countOf = ({ devices, gang }: BookingShape): number =>
  (devices?.[0]?.count ?? 0) * (gang?.size ?? 1);

/** A pool with room for so many GPUs at once and for so long, and how often it was asked. */
function room(gpus: number, hours: number) {
  const asked: number[] = [];
  return {
    asked,
    ask: async (shapes: readonly BookingShape[]) => {
      asked.push(shapes.length);
      return shapes.map((shape) => ({
        preview: {
          fits: countOf(shape) <= gpus && Number(shape.duration) <= hours * 3_600_000,
        } as never,
        quota: { ok: true, rows: [] },
      }));
    },
  };
}

it("of 64 GPUs on one rack with room for three members it is 24, and not 16", async () => {
  const { ask } = room(24, 1_000);
  const known = { kind: "fewer", words: "", change: { count: "16" }, shape: {} } as const;
  const found = await leastOf(wish({ gpus: 64, together: "rack", for: "1h" }), [known], ask);
  expect(found.map(({ words }) => words)).toEqual(["24 GPUs instead of 64"]);
});

it("what fits as smaller members is not given up for whole ones", async () => {
  const { ask } = room(12, 1_000);
  const known = { kind: "fewer", words: "", change: { count: "12" }, shape: {} } as const;
  const found = await leastOf(wish({ gpus: 16, together: "rack", for: "1h" }), [known], ask);
  expect(found.map(({ change }) => change)).toEqual([{ count: "12" }]);
});

it("the length is found to the hour", async () => {
  const { ask } = room(8, 101);
  const found = await leastOf(wish({ gpus: 8, for: "7d" }), [], ask);
  expect(found.map(({ words }) => words)).toEqual(["For 4 d 5 h instead of 7 d"]);
});

it.each([1, 7, 8, 40, 200, 511])(
  "room for %i of 512 is found in few quotes of few shapes",
  async (gpus) => {
    const { ask, asked } = room(gpus, 1_000);
    const coarse = [384, 256, 128, 64].find((count) => count <= gpus);
    const known = { kind: "fewer", words: "", shape: {} } as const;
    const found = await leastOf(
      wish({ gpus: 512, together: "rack", for: "1h" }),
      coarse === undefined ? [] : [{ ...known, change: { count: String(coarse) } }],
      ask,
    );
    const most = coarse === undefined ? gpus : Math.floor(gpus / 8) * 8;
    expect(found.map(({ change }) => change)).toEqual([{ count: String(most) }]);
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(Math.max(...asked)).toBeLessThanOrEqual(16);
  },
);

it("where nothing less fits nothing is offered", async () => {
  const { ask } = room(0, 0);
  expect(await leastOf(wish({ gpus: 8, for: "8h" }), [], ask)).toEqual([]);
});
