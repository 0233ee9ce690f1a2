/** Capacity as a drawing in the terminal: a bar a pool, one sign a share of its GPUs. */
import type { PoolCapacity } from "@berth/client";

interface Part {
  readonly sign: string;
  /** SGR code. */
  readonly color: number;
  readonly word: string;
  readonly count: number;
}

/** A line a pool and one that says what the signs mean; `names` are what people call the pools. */
export function drawCapacity(
  pools: readonly PoolCapacity[],
  options: {
    readonly names: ReadonlyMap<string, string>;
    readonly color: boolean;
    readonly width: number;
  },
): string[] {
  const { names, color } = options;
  const labels = pools.map((pool) => names.get(pool.poolId) ?? pool.poolId);
  const left = Math.max(...labels.map((label) => label.length));
  const bar = Math.max(16, Math.min(48, options.width - left - 44));
  const lines = pools.map((pool, i) => {
    const parts = partsOf(pool);
    const total = parts.reduce((sum, part) => sum + part.count, 0);
    const cells = share(
      parts.map((part) => part.count),
      bar,
    );
    const drawn = parts.map((part, at) =>
      paint(part.sign.repeat(cells[at] ?? 0), part.color, color),
    );
    const words = parts
      .filter((part) => part.count > 0)
      .map((part) => `${part.count} ${part.word}`);
    return `  ${(labels[i] ?? "").padEnd(left)}  ${drawn.join("")}  ${words.join(", ")} of ${total}`;
  });
  const legend = LEGEND.map(([sign, code, word]) => `${paint(sign, code, color)} ${word}`).join(
    "   ",
  );
  return [...lines, `  ${"".padEnd(left)}  ${legend}`];
}

const LEGEND = [
  ["█", 36, "booked now"],
  ["▓", 34, "booked later"],
  ["░", 32, "free"],
  ["x", 31, "out of service"],
] as const;

function partsOf(pool: PoolCapacity): Part[] {
  const row = pool.capacity.find(({ resource }) => resource === "gpu");
  if (!row) return [];
  const down = row.total - row.allocatable;
  // A GPU that is booked now and again later is one cell: later counts what is not booked now.
  const later = row.allocatable - row.available - Math.min(row.allocated, row.allocatable);
  const now = row.allocatable - row.available - Math.max(0, later);
  return [
    { sign: "█", color: 36, word: "now", count: now },
    { sign: "▓", color: 34, word: "later", count: Math.max(0, later) },
    { sign: "░", color: 32, word: "free", count: row.available },
    { sign: "x", color: 31, word: "down", count: down },
  ];
}

/** Cells by largest remainder; whatever is there at all gets one. */
function share(counts: readonly number[], cells: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return counts.map(() => 0);
  const exact = counts.map((count) => (count / total) * cells);
  const given = exact.map((part, i) => Math.max((counts[i] ?? 0) > 0 ? 1 : 0, Math.floor(part)));
  const order = exact
    .map((part, i) => ({ i, rest: part - (given[i] ?? 0) }))
    .toSorted((a, b) => b.rest - a.rest || a.i - b.i);
  let left = cells - given.reduce((sum, count) => sum + count, 0);
  for (const { i } of order) {
    if (left <= 0) break;
    given[i] = (given[i] ?? 0) + 1;
    left -= 1;
  }
  return given;
}

function paint(text: string, code: number, color: boolean): string {
  return color && text !== "" ? `\u001B[${code}m${text}\u001B[0m` : text;
}
