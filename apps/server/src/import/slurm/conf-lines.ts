/**
 * Lines of slurm.conf and gres.conf: `Key=value` pairs, keys in any case, `#` comments, a `\` that continues a
 * line and values in quotes (SchedMD/slurm `src/common/parse_config.c`).
 */

export interface ConfLine {
  /** Of the line where it begins, from 1. */
  readonly number: number;
  /** By key in lower case; the last of a key wins. */
  readonly values: ReadonlyMap<string, string>;
  readonly text: string;
}

export function confLines(text: string): ConfLine[] {
  const lines: ConfLine[] = [];
  const physical = text.split(/\r?\n/);
  for (let at = 0; at < physical.length; at += 1) {
    const number = at + 1;
    let line = uncommented(physical[at] ?? "");
    while (line.endsWith("\\") && at + 1 < physical.length) {
      at += 1;
      line = `${line.slice(0, -1)} ${uncommented(physical[at] ?? "")}`;
    }
    if (line.trim() !== "") lines.push({ number, values: pairsOf(line), text: line.trim() });
  }
  return lines;
}

/** A `#` in the middle of a value is part of it when it is escaped. */
const uncommented = (line: string) => line.replace(/(^|[^\\])#.*$/, "$1").trimEnd();

function pairsOf(line: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const [, key = "", quoted, plain = ""] of line.matchAll(
    /(?<!\w)([A-Za-z]\w*)\s*[+-]?=\s*(?:"([^"]*)"|(\S*))/g,
  ))
    pairs.set(key.toLowerCase(), quoted ?? plain);
  return pairs;
}
