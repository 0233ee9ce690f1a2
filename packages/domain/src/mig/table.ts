/**
 * Which MIG instances a GPU can be cut into, by its model: each profile's size and legal starts, in
 * memory slices. Sources: the `nvidia-smi mig -lgipp` listings of NVIDIA's MIG User Guide (A100, A30) and
 * of public H100 captures; for H200 and the Blackwell parts the starts follow from their memory fractions.
 * Profile names per part are those of NVIDIA's mig-parted. A node's own report wins over all of this.
 */

export interface MigProfile {
  /** As NVIDIA names it: `3g.40gb`, `1g.10gb+me`. */
  readonly profile: string;
  /** Memory slices in a row that an instance takes. */
  readonly size: number;
  /** Slices that it may begin at, the best first. */
  readonly starts: readonly number[];
}

/** Profiles of distinct names, the smallest first. */
export type MigTable = readonly MigProfile[];

/** Memory slices that a reported table may have: twice what any part has, and few enough to search. */
export const SLICES_MAX = 16;

const MAKERS = new Set(["nvidia", "tesla"]);

/** A model without its maker, case and punctuation: equal for names of the same model. */
export function modelName(model: string): string {
  return tokensOf(model).join(" ");
}

function tokensOf(model: string): string[] {
  const tokens = model
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((token) => token !== "");
  return tokens.filter((token, at) => at === tokens.length - 1 || !MAKERS.has(token));
}

/**
 * The tables that a GPU of the model may have: none when nothing is known of it, and more than one when
 * its name leaves the memory open (`A100`) and the memory is not given either.
 * @param memoryGiB the GPU's, where it was reported
 */
export function tablesOf(model: string, memoryGiB: number | null = null): readonly MigTable[] {
  const [name = "", ...rest] = tokensOf(model);
  const part = PARTS.get(name);
  if (!part || rest.some((token) => !FORM.test(token))) return [];
  const named = rest.map((token) => MEMORY.exec(token)?.[1]).find((gb) => gb !== undefined);
  if (named !== undefined) return present(part.byMemory[named]);
  const usual = rest.includes("nvl") ? (part.usualNvl ?? part.usual) : part.usual;
  if (usual) return [usual];
  return memoryGiB === null ? Object.values(part.byMemory) : present(part.byMemory[memoryGiB]);
}

function present(table: MigTable | undefined): readonly MigTable[] {
  return table ? [table] : [];
}

/** What a node says of its GPU, in the order of a table: the smallest first, starts from the top down. */
export function reportedTable(
  reported: readonly Pick<MigProfile, "profile" | "size" | "starts">[],
): MigTable {
  return reported
    .map(({ profile, size, starts }) => ({
      profile,
      size,
      starts: starts.toSorted((a, b) => b - a),
    }))
    .sort((a, b) => a.size - b.size || (a.profile < b.profile ? -1 : 1));
}

/** The first slice after the last one that an instance can take. */
export function slicesOf(table: MigTable): number {
  return Math.max(0, ...table.flatMap(({ size, starts }) => starts.map((start) => start + size)));
}

/** A GPU takes at most one instance with the media engines. */
export function isMedia(profile: string): boolean {
  return profile.includes("+me");
}

/** Memory that the profile's name states, GiB; null for a name without it. */
export function memoryOf(profile: string): number | null {
  const gb = /\.(\d+)gb/.exec(profile)?.[1];
  return gb === undefined ? null : Number(gb);
}

/**
 * Less is taken first: the smaller instance, the one with fewer compute slices, the one without media
 * engines. What is asked for without a profile leaves the bigger ones to those who need them.
 */
export function profileRank(profile: string): number {
  const compute = Number(/^(\d+)g/.exec(profile)?.[1] ?? 0);
  return (memoryOf(profile) ?? 0) * 64 + compute * 2 + (isMedia(profile) ? 1 : 0);
}

/** Words of a model name that do not change how it is cut, and its memory. */
const FORM = /^(sxm\d?|pcie|nvl|hgx|hbm\d?e?|ac|active|\d+(g|gb)?)$/;
const MEMORY = /^(\d+)(?:g|gb)?$/;

type Names = readonly [one: number, two: number, four: number, eight: number];

/**
 * Parts with eight memory slices, by the GB in the names of their profiles of 1, 2, 4 and 8 slices. The
 * starts are NVIDIA's; their order is from the top, since slice 0 is the only start of the largest.
 */
function eightSlices([one, two, four, eight]: Names): MigTable {
  const ones = [6, 5, 4, 3, 2, 1, 0];
  return [
    { profile: `1g.${one}gb`, size: 1, starts: ones },
    { profile: `1g.${one}gb+me`, size: 1, starts: ones },
    { profile: `1g.${two}gb`, size: 2, starts: [6, 4, 2, 0] },
    { profile: `2g.${two}gb`, size: 2, starts: [4, 2, 0] },
    { profile: `3g.${four}gb`, size: 4, starts: [4, 0] },
    { profile: `4g.${four}gb`, size: 4, starts: [0] },
    { profile: `7g.${eight}gb`, size: 8, starts: [0] },
  ];
}

const A30: MigTable = [
  { profile: "1g.6gb", size: 1, starts: [3, 2, 1, 0] },
  { profile: "1g.6gb+me", size: 1, starts: [3, 2, 1, 0] },
  { profile: "2g.12gb", size: 2, starts: [2, 0] },
  { profile: "2g.12gb+me", size: 2, starts: [2, 0] },
  { profile: "4g.24gb", size: 4, starts: [0] },
];
const GB40 = eightSlices([5, 10, 20, 40]);
const GB80 = eightSlices([10, 20, 40, 80]);
const GB94 = eightSlices([12, 24, 47, 94]);
const GB96 = eightSlices([12, 24, 48, 96]);
const GB141 = eightSlices([18, 35, 71, 141]);
const GB144 = eightSlices([18, 36, 72, 144]);
const GB180 = eightSlices([23, 45, 90, 180]);
const GB186 = eightSlices([23, 47, 93, 186]);
const GB269 = eightSlices([34, 67, 135, 269]);
const GB278 = eightSlices([35, 70, 139, 278]);

interface Part {
  /** By the memory that a name states, GB. */
  readonly byMemory: Readonly<Record<string, MigTable>>;
  /** For a name that states none; absent where that leaves it open. */
  readonly usual?: MigTable;
  readonly usualNvl?: MigTable;
}

const ampere: Part = { byMemory: { 40: GB40, 80: GB80 } };
const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ["a30", { byMemory: { 24: A30 }, usual: A30 }],
  ["a100", ampere],
  ["a800", ampere],
  ["h100", { byMemory: { 80: GB80, 94: GB94, 96: GB96 }, usual: GB80, usualNvl: GB94 }],
  ["h800", { byMemory: { 80: GB80, 94: GB94 }, usual: GB80, usualNvl: GB94 }],
  ["h20", { byMemory: { 96: GB96 }, usual: GB96 }],
  ["h200", { byMemory: { 141: GB141 }, usual: GB141 }],
  // Its name states the memory of the processor beside it: 480 or 120.
  ["gh200", { byMemory: { 96: GB96, 120: GB96, 144: GB144, 480: GB96 }, usual: GB96 }],
  // Sold as 192 and 288 GB.
  ["b200", { byMemory: { 180: GB180, 192: GB180 }, usual: GB180 }],
  ["gb200", { byMemory: { 186: GB186, 192: GB186 }, usual: GB186 }],
  ["b300", { byMemory: { 269: GB269, 288: GB269 }, usual: GB269 }],
  ["gb300", { byMemory: { 278: GB278, 288: GB278 }, usual: GB278 }],
]);
