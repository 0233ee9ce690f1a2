/** The line that was typed, with something else in it: ready to copy. */
import { quoted } from "./shell.ts";

/** What a flag becomes: its new value, `true` for one that takes none; null takes it out. */
export type Change = Readonly<Record<string, string | true | null>>;

/** Whatever was said of asking is left out: the new line is another request, and asks again before it books. */
export const ASKS_AGAIN: Change = { "--dry-run": null, "--yes": null, "-y": null };

/** Flags that no value stands after. */
const SWITCHES: ReadonlySet<string> = new Set(["--dry-run", "--yes", "-y", "--spot"]);

/**
 * @param argv all that was typed after `berth`
 * @param count the number of GPUs that was typed and the one to stand in its place
 */
export function retyped(
  argv: readonly string[],
  change: Change,
  count?: { readonly typed: string; readonly now: string },
): string {
  const kept: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const [arg = ""] = argv.slice(at, at + 1);
    const [name = ""] = arg.split("=", 1);
    if (!Object.hasOwn(change, name)) kept.push(arg === count?.typed ? count.now : arg);
    else if (name === arg && !SWITCHES.has(name)) at += 1;
  }
  for (const [name, value] of Object.entries(change))
    if (value !== null) kept.push(name, ...(value === true ? [] : [value]));
  return quoted(["berth", ...kept]);
}
