/** The order of names as people count: `gpu-2` before `gpu-10`, and the same on every device. */
const ORDER = new Intl.Collator("en", { numeric: true });

export function byName(a: string, b: string): number {
  return ORDER.compare(a, b);
}
