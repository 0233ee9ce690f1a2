/**
 * Whether a GPU can be cut into a list of MIG profiles, and where each instance goes. Two instances fit
 * together when their intervals of memory slices do not overlap, and at most one is a media instance;
 * on the parts there are, that keeps to the compute slices, too.
 */
import { type MigProfile, type MigTable, isMedia, slicesOf } from "./table.ts";

export interface MigInstance {
  readonly profile: string;
  /** Its first memory slice. */
  readonly start: number;
}

export type Arrangement =
  /** By start. */
  | { readonly fits: true; readonly instances: readonly MigInstance[] }
  /** The first profile of the list that those before it leave no room for. */
  | {
      readonly fits: false;
      readonly at: number;
      readonly why: "unknown" | "media" | "slices" | "starts";
      /** A sentence that names the profile. */
      readonly message: string;
    };

/**
 * The instances of a layout, the same for every order of its profiles: the largest are placed first, each
 * at its best start that lets the others in.
 * @param layout profile names, each as often as it is wanted
 */
export function arrange(table: MigTable, layout: readonly string[]): Arrangement {
  const known = new Map(table.map((profile) => [profile.profile, profile]));
  const taken: MigProfile[] = [];
  let used = 0;
  let instances: readonly MigInstance[] = [];
  for (const [at, name] of layout.entries()) {
    const no = (why: (Arrangement & { fits: false })["why"], text: string): Arrangement => {
      return { fits: false, at, why, message: `${name} does not fit: ${text}` };
    };
    const profile = known.get(name);
    if (!profile) return no("unknown", `the GPU has ${[...known.keys()].join(", ")}`);
    if (isMedia(name) && taken.some((other) => isMedia(other.profile)))
      return no("media", "a GPU takes one instance with media engines");
    const slices = slicesOf(table);
    if (used + profile.size > slices)
      return no("slices", `it takes ${memorySlices(profile.size)}, ${left(slices, used)}`);
    taken.push(profile);
    used += profile.size;
    const placed = search(taken);
    if (!placed) return no("starts", noStart(profile, taken.slice(0, -1)));
    instances = placed;
  }
  return { fits: true, instances };
}

/**
 * By the first of several tables that takes it; else the refusal of the one that takes most of it. A GPU
 * whose model leaves open which part it is may have any of them.
 */
export function arrangeByAny(
  tables: readonly MigTable[],
  layout: readonly string[],
): Arrangement | null {
  let best: Arrangement | null = null;
  for (const table of tables) {
    const found = arrange(table, layout);
    if (found.fits) return found;
    if (!best || (!best.fits && found.at > best.at)) best = found;
  }
  return best;
}

function memorySlices(count: number): string {
  return count === 1 ? "1 memory slice" : `${count} memory slices`;
}

function left(slices: number, used: number): string {
  return `and ${slices - used} of ${slices} are left`;
}

function noStart({ size, starts }: MigProfile, before: readonly MigProfile[]): string {
  const where = starts.toSorted((a, b) => a - b).join(" or ");
  const others = before.map(({ profile }) => profile).join(", ");
  return `it takes ${memorySlices(size)} from slice ${where}, and no placement of ${others} leaves them free`;
}

/** Backtracking over starts; a choice that was seen to fail is not tried again. */
function search(profiles: readonly MigProfile[]): MigInstance[] | null {
  const order = profiles.toSorted(
    (a, b) =>
      b.size - a.size || a.starts.length - b.starts.length || (a.profile < b.profile ? -1 : 1),
  );
  const failed = new Set<string>();
  const chosen: MigInstance[] = [];
  return seat(0, 0) ? chosen.sort((a, b) => a.start - b.start) : null;

  /** @param busy a bit a memory slice */
  function seat(at: number, busy: number): boolean {
    const profile = order[at];
    if (!profile) return true;
    const key = `${at}/${busy}`;
    if (failed.has(key)) return false;
    for (const start of profile.starts) {
      const slices = ((1 << profile.size) - 1) << start;
      if (busy & slices) continue;
      chosen.push({ profile: profile.profile, start });
      if (seat(at + 1, busy | slices)) return true;
      chosen.pop();
    }
    failed.add(key);
    return false;
  }
}
