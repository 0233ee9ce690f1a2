/** Whole numbers as people type them, held to the bounds of the API so that a field says what the server would. */
import { number } from "./gpus.ts";

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** As the contract has them; a test reads both. */
export const BOUNDS = {
  /** The most stands for "as much as there is": an owner's own rows begin so. */
  quota: { least: 0, most: 2_147_483_647 },
  priority: { least: -1_000, most: 1_000 },
  vcpu: { least: 0, most: 4_096 },
  memoryGiB: { least: 0, most: 65_536 },
  noticeSeconds: { least: 0, most: 3_600 },
  replicas: { least: 2, most: 48 },
  hugepages: { least: 0, most: 65_536 },
} as const satisfies Readonly<Record<string, Bounds>>;

/** Why the text is no whole number within the bounds; null for one that is, and for an empty one. */
export function wholeRefusal(text: string, { least, most }: Bounds): string | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  const isWithin = Number.isInteger(value) && value >= least && value <= most;
  return isWithin ? null : `A whole number from ${number(least)} to ${number(most)}.`;
}
