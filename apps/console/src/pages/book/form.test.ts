import { describe, expect, it } from "vitest";
import { concessionsOf, fitting } from "./concessions.ts";
import { askOf, countedText, searchOf } from "./form.ts";
import type { BookForm } from "./form.ts";
import { fromLink } from "./link.ts";
import { bookSearch } from "./search.ts";
import { nextWeek, tomorrow } from "./when.ts";

const POOL = { id: "pool_x", perNode: 8 };
const form = (change: Partial<BookForm> = {}): BookForm => ({
  ...fromLink({}, "gpu", 0).form,
  count: "16",
  together: "rack",
  duration: "7d",
  ...change,
});
const ask = (change: Partial<BookForm> = {}) => askOf(form(change), "vision", POOL);

describe("the request of the form", () => {
  it("is 16 GPUs of one rack for a week as two nodes of eight", () => {
    expect(ask({ start: 1_000 })).toEqual({
      ok: true,
      count: 16,
      words: "2 × 8 GPUs on nodes of one rack",
      request: {
        tenantId: "vision",
        poolId: "pool_x",
        devices: [{ class: "gpu", count: 8 }],
        gang: { size: 2, topologyKey: "rack" },
        start: 1_000,
        duration: 604_800_000,
      },
    });
  });

  it("has no start when it begins now, and takes lease, tag and spot", () => {
    const project = `prj_${"0".repeat(26)}`;
    const made = ask({ spot: true, lease: "90s", project });
    expect(made).toMatchObject({ request: { spot: true, leaseSeconds: 90, projectId: project } });
    expect(made.ok && "start" in made.request).toBe(false);
  });

  it.each<[keyof BookForm, Partial<BookForm>]>([
    ["count", { count: "" }],
    ["count", { count: "1.5" }],
    ["count", { count: "0" }],
    ["count", { count: "16", together: "node" }],
    ["duration", { duration: "soon" }],
    ["lease", { lease: "5s" }],
    ["project", { project: "<img>" }],
    ["profile", { kind: "node", together: "any" }],
  ])("says that %s is wrong for %o", (field, change) => {
    const made = ask(change);
    expect(made.ok).toBe(false);
    if (!made.ok) expect(Object.keys(made.errors)).toEqual([field]);
  });
});

it("a count that is none is on no button, and is spoken of without the API's names", () => {
  for (const count of ["-3", "1.5", "", "1e300", "0"]) {
    expect(countedText({ kind: "gpu", count })).toBe("GPUs");
    expect(ask({ count })).toMatchObject({ errors: { count: "A whole number from 1 on" } });
  }
  expect(countedText({ kind: "gpu.mig", count: "-1" })).toBe("MIG instances");
  expect(countedText({ kind: "node", count: "2" })).toBe("2 nodes");
  for (const change of [{ together: "nvlink" }, { count: "513", together: "any" }] as const) {
    const made = ask(change);
    expect(made.ok ? "" : made.errors.count).toMatch(/^(?:One node of|513 GPUs)(?!.*perNode)/);
  }
});

it("the form goes into an address and comes back from it", () => {
  const there = searchOf(form({ start: 5, spot: true }), "pool_x");
  expect(fromLink(bookSearch({ ...there }), "gpu", 0).form).toEqual(form({ start: 5, spot: true }));
});

describe("concessions", () => {
  const all = concessionsOf({ form: form(), tenantId: "vision", pool: POOL });
  const answer = (fits: boolean, ok = true) => ({
    preview: { fits } as never,
    quota: { ok, rows: [] },
  });

  it("are fewer than a quote has room for, beside the request", () => {
    expect(all.length).toBeGreaterThan(5);
    expect(all.length).toBeLessThanOrEqual(15);
  });

  it("of each kind the smallest that fits is offered", () => {
    const fits = fitting(
      all,
      all.map(({ change }) => answer(change.count === "4" || change.count === "2")),
    );
    expect(fits.map(({ words }) => words)).toEqual(["4 GPUs instead of 16"]);
  });

  it("one that the quota does not allow is none", () => {
    expect(
      fitting(
        all,
        all.map(() => answer(true, false)),
      ),
    ).toEqual([]);
  });

  it("less than one GPU is not offered, nor spot to who asks for spot", () => {
    const few = concessionsOf({
      form: form({ count: "1", together: "any", spot: true, duration: "1h" }),
      tenantId: "v",
      pool: POOL,
    });
    expect(few).toEqual([]);
  });
});

describe("beginnings", () => {
  const at = (text: string) => Date.parse(text);

  it("next week is Monday 09:00 in the viewer's zone", () => {
    const monday = at("2026-12-07T08:00:00Z");
    expect(nextWeek(at("2026-12-03T12:00:00Z"), "Europe/Berlin")).toBe(monday);
    expect(nextWeek(at("2026-12-06T23:30:00Z"), "Europe/Berlin")).toBe(at("2026-12-14T08:00:00Z"));
    expect(nextWeek(at("2026-11-30T10:00:00Z"), "Europe/Berlin")).toBe(monday);
  });

  it("09:00 stays 09:00 over a change of the clocks", () => {
    expect(tomorrow(at("2026-10-24T12:00:00Z"), "Europe/Berlin")).toBe(at("2026-10-25T08:00:00Z"));
    expect(tomorrow(at("2026-10-23T12:00:00Z"), "Europe/Berlin")).toBe(at("2026-10-24T07:00:00Z"));
  });
});
