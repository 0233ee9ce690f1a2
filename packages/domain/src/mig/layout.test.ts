import { describe, expect, it } from "vitest";
import { type MigInstance, arrange, arrangeByAny } from "./layout.ts";
import { type MigTable, isMedia, tablesOf } from "./table.ts";

const H100 = table("NVIDIA H100 80GB HBM3");
const A30 = table("NVIDIA A30");

function table(model: string): MigTable {
  const [found] = tablesOf(model);
  if (!found) throw new Error(`no table for ${model}`);
  return found;
}

/** Every set of instances that do not overlap and have at most one media instance, by trying each. */
function everyLayout(profiles: MigTable): MigInstance[][] {
  const all = profiles.flatMap(({ profile, size, starts }) =>
    starts.map((start) => ({ profile, start, size })),
  );
  const layouts: MigInstance[][] = [];
  const extend = (from: number, chosen: typeof all): void => {
    if (chosen.length > 0) layouts.push(chosen.map(({ profile, start }) => ({ profile, start })));
    for (let i = from; i < all.length; i += 1) {
      const next = all[i] as (typeof all)[number];
      const clear = chosen.every(
        (one) => one.start + one.size <= next.start || next.start + next.size <= one.start,
      );
      const media = isMedia(next.profile) && chosen.some((one) => isMedia(one.profile));
      if (clear && !media) extend(i + 1, [...chosen, next]);
    }
  };
  extend(0, []);
  return layouts;
}

const multisetOf = (layout: readonly { profile: string }[]): string =>
  layout
    .map(({ profile }) => profile)
    .sort()
    .join(" ");

interface Counts {
  readonly layouts: number;
  readonly multisets: number;
  readonly maximal: number;
  readonly full: number;
}

function count(profiles: MigTable): Counts {
  const layouts = everyLayout(profiles);
  const multisets = new Set(layouts.map(multisetOf));
  const names = profiles.map(({ profile }) => profile);
  const isMaximal = (set: string): boolean =>
    names.every((name) => !multisets.has([...set.split(" "), name].sort().join(" ")));
  const sizes = new Map(profiles.map(({ profile, size }) => [profile, size]));
  const sizeOf = (set: string): number =>
    set.split(" ").reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
  const maximal = [...multisets].filter(isMaximal);
  return {
    layouts: layouts.length,
    multisets: multisets.size,
    maximal: maximal.length,
    full: maximal.filter((set) => sizeOf(set) === 8).length,
  };
}

/** Every multiset of up to `most` of the names. */
function everyMultiset(names: readonly string[], most: number): string[][] {
  const sets: string[][] = [];
  const extend = (from: number, chosen: string[]): void => {
    if (chosen.length > 0) sets.push(chosen);
    if (chosen.length === most) return;
    for (let i = from; i < names.length; i += 1) extend(i, [...chosen, names[i] as string]);
  };
  extend(0, []);
  return sets;
}

const withoutMedia = (profiles: MigTable): MigTable => profiles.filter((p) => !isMedia(p.profile));

describe("the table", () => {
  it("gives NVIDIA's number of layouts for a part with eight slices", () => {
    expect(count(withoutMedia(H100))).toEqual({
      layouts: 722,
      multisets: 77,
      maximal: 28,
      full: 22,
    });
  });

  it("gives the number of layouts with a media instance", () => {
    expect(count(H100)).toEqual({ layouts: 2_318, multisets: 127, maximal: 44, full: 32 });
  });

  it("gives the number of layouts of an A30", () => {
    expect(everyLayout(withoutMedia(A30))).toHaveLength(25);
  });

  it("keeps every layout within the compute slices", () => {
    const compute = (layout: MigInstance[]): number =>
      layout.reduce((sum, { profile }) => sum + Number.parseInt(profile, 10), 0);
    expect(Math.max(...everyLayout(H100).map(compute))).toBe(7);
    expect(Math.max(...everyLayout(A30).map(compute))).toBe(4);
  });
});

describe("a layout", () => {
  const sizes = new Map(H100.map(({ profile, size }) => [profile, size]));
  const legal = new Set(everyLayout(H100).map(multisetOf));
  const names = H100.map(({ profile }) => profile);

  it("is taken when some placement exists, and else refused with the first profile that has no room and why", () => {
    const isLegal = (set: readonly string[]): boolean => legal.has([...set].sort().join(" "));
    let taken = 0;
    for (const set of everyMultiset(names, 7)) {
      const found = arrange(H100, set);
      if (isLegal(set)) {
        taken += 1;
        if (!found.fits) throw new Error(`${set.join()}: ${found.message}`);
        expect(multisetOf(found.instances)).toBe([...set].sort().join(" "));
        continue;
      }
      if (found.fits) throw new Error(`${set.join()} cannot be placed`);
      const before = set.slice(0, found.at);
      const name = set[found.at] as string;
      expect(before.length === 0 || isLegal(before)).toBe(true);
      expect(isLegal([...before, name])).toBe(false);
      const used = before.reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0);
      const why =
        isMedia(name) && before.some(isMedia)
          ? "media"
          : used + (sizes.get(name) ?? 0) > 8
            ? "slices"
            : "starts";
      expect({ set, why: found.why }).toEqual({ set, why });
      expect(found.message).toContain(`${name} does not fit: `);
    }
    expect(taken).toBe(127);
  });

  it("is placed without overlap, each instance at a start of its profile", () => {
    for (const set of everyMultiset(names, 7)) {
      const found = arrange(H100, set);
      if (!found.fits) continue;
      const busy = new Set<number>();
      for (const { profile, start } of found.instances) {
        const known = H100.find((one) => one.profile === profile);
        expect(known?.starts).toContain(start);
        for (let slice = start; slice < start + (known?.size ?? 0); slice += 1) {
          expect(busy.has(slice)).toBe(false);
          busy.add(slice);
        }
      }
    }
  });

  it("is placed alike whatever the order of its profiles", () => {
    for (const set of everyMultiset(names, 4)) {
      const found = arrange(H100, set);
      if (!found.fits) continue;
      expect(arrange(H100, set.toReversed())).toEqual(found);
    }
  });

  it("leaves the starts of larger instances free as long as it can", () => {
    const starts = (...set: string[]): number[] => {
      const found = arrange(H100, set);
      return found.fits ? found.instances.map(({ start }) => start) : [];
    };
    expect(starts("1g.10gb")).toEqual([6]);
    expect(starts("1g.10gb", "1g.10gb", "1g.10gb")).toEqual([4, 5, 6]);
    expect(starts("2g.20gb")).toEqual([4]);
    expect(starts("3g.40gb")).toEqual([4]);
    expect(starts("3g.40gb", "4g.40gb")).toEqual([0, 4]);
    expect(starts("3g.40gb", "2g.20gb", "2g.20gb")).toEqual([0, 2, 4]);
  });

  it("says in words what is in the way", () => {
    const message = (...set: string[]): string => {
      const found = arrange(H100, set);
      return found.fits ? "" : found.message;
    };
    expect(message("1g.10gb", "1g.5gb")).toBe(
      "1g.5gb does not fit: the GPU has 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb",
    );
    expect(message("1g.20gb", "1g.20gb", "1g.20gb", "1g.20gb", "1g.10gb")).toBe(
      "1g.10gb does not fit: it takes 1 memory slice, and 0 of 8 are left",
    );
    expect(message("4g.40gb", "4g.40gb")).toBe(
      "4g.40gb does not fit: it takes 4 memory slices from slice 0, and no placement of 4g.40gb leaves them free",
    );
    expect(message("1g.10gb+me", "1g.10gb+me")).toBe(
      "1g.10gb+me does not fit: a GPU takes one instance with media engines",
    );
  });

  it("of a model that leaves the part open is placed by the part that takes it", () => {
    const a100 = tablesOf("A100");
    expect(a100).toHaveLength(2);
    expect(arrangeByAny(a100, ["1g.5gb", "1g.10gb"])).toMatchObject({ fits: true });
    expect(arrangeByAny(a100, Array(7).fill("1g.10gb"))).toMatchObject({ fits: true });
    expect(arrangeByAny(a100, ["1g.10gb", "3g.40gb", "3g.40gb"])).toMatchObject({
      fits: false,
      at: 2,
    });
    expect(arrangeByAny([], ["1g.5gb"])).toBeNull();
  });

  it("of a reported table is searched within bounds, however odd the table", () => {
    const odd: MigTable = Array.from({ length: 7 }, (_, i) => ({
      profile: `${i}g`,
      size: 2,
      starts: [15 - 2, 11, 9, 7, 5, 3, 1].filter((start) => start !== 2 * i + 1),
    }));
    expect(
      arrange(
        odd,
        odd.map(({ profile }) => profile),
      ).fits,
    ).toBe(true);
    const stuck: MigTable = Array.from({ length: 7 }, (_, i) => ({
      profile: `${i}g`,
      size: 2,
      starts: i === 0 ? [14] : [12, 10, 8, 6, 4].map((start) => start + 1),
    }));
    expect(
      arrange(
        stuck,
        stuck.map(({ profile }) => profile),
      ),
    ).toMatchObject({
      fits: false,
      why: "starts",
    });
  });
});
