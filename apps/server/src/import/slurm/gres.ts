/**
 * Generic resources as a node has them: `gpu:h100:8(S:0-1),shard:40`. Name, type and count as in SchedMD/slurm
 * `doc/man/man5/slurm.conf.5` (Gres: `name[:type][:no_consume]:number[K|M|G]`) and `src/common/gres.c`, which adds
 * the sockets in parentheses. A MIG instance is a gpu whose type is or ends in its profile (`a100_1g.5gb`).
 */
import { splitOutside } from "./hostlist.ts";

export interface Gres {
  readonly name: string;
  readonly type: string | null;
  readonly count: number;
}

const FACTORS: Readonly<Record<string, number>> = { K: 1_024, M: 1_048_576, G: 1_073_741_824 };

/** Null when one of them is none. */
export function parseGres(text: string): Gres[] | null {
  if (text === "" || text === "(null)" || text === "N/A") return [];
  const found: Gres[] = [];
  for (const part of splitOutside(text, "(", ")")) {
    if (part === "") continue;
    const gres = parseOne(part.replace(/\([^)]*\)/g, ""));
    if (!gres) return null;
    found.push(gres);
  }
  return found;
}

function parseOne(text: string): Gres | null {
  const [name = "", ...rest] = text.split(":").filter((part) => part !== "no_consume");
  const count = rest.length > 0 ? parseCount(rest.at(-1) ?? "") : null;
  const types = count === null ? rest : rest.slice(0, -1);
  if (!/^[\w.-]+$/.test(name) || types.length > 1) return null;
  return { name: name.toLowerCase(), type: types[0] || null, count: count ?? 1 };
}

/** Null when it is no count, and so a type. */
export function parseCount(text: string): number | null {
  const [, digits, suffix = ""] = /^(\d{1,12})([KMG]?)$/i.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * (FACTORS[suffix.toUpperCase()] ?? 1);
}

/** The MIG profile that a type names; null for a whole GPU. */
export function migProfileOf(type: string | null): string | null {
  return /(?:^|_)(\d{1,2}g\.\d{1,4}gb(?:\+[\w.]+)?)$/i.exec(type ?? "")?.[1]?.toLowerCase() ?? null;
}
