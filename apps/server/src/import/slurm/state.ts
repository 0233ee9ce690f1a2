/**
 * What Slurm says of a node: a base state and flags. The names are those of SchedMD/slurm
 * `src/common/slurm_protocol_defs.c` (node_states, node_state_flags), of `src/plugins/data_parser/v0.0.42/parsers.c`
 * (NODE_STATES) and the words of `sinfo` (`drained`, `down*`).
 */
import type { NodeState } from "../draft.ts";

const IN_SERVICE = [
  "IDLE",
  "ALLOCATED",
  "ALLOC",
  "MIXED",
  "MIX",
  "COMPLETING",
  "PLANNED",
  "RESERVED",
];
const NOT_YET = ["FUTURE", "DYNAMIC_FUTURE", "UNKNOWN"];
const BROKEN = ["DOWN", "ERROR", "FAIL", "FAILING", "INVALID_REG", "INVAL"];
const ASIDE = ["DRAIN", "DRAINED", "DRAINING", "DRNG", "MAINT", "MAINTENANCE", "REBOOT_ISSUED"];
const SILENT = ["NOT_RESPONDING", "NO_RESPOND"];
const KNOWN = [IN_SERVICE, NOT_YET, BROKEN, ASIDE, SILENT].flat();

/**
 * The worst of what is said; null when the first word, the base state, is not known. Flags of power saving do not count: a node
 * that was powered down to save power is started for the next job, and a flag of a later Slurm is passed over.
 */
export function nodeStateOf(words: readonly string[]): NodeState | null {
  const said = words.flatMap((word) => {
    const bare = word.trim().toUpperCase();
    // sinfo's short form: a star for a node that does not respond, other signs for power and reboots.
    return bare.includes("*")
      ? [bare.replace(/\W+$/, ""), "NOT_RESPONDING"]
      : [bare.replace(/\W+$/, "")];
  });
  const any = (states: readonly string[]) => said.some((word) => states.includes(word));
  if (!KNOWN.includes(said[0] ?? "")) return null;
  if (any(SILENT)) return "unreachable";
  if (any(BROKEN)) return "unhealthy";
  if (any(ASIDE)) return "maintenance";
  return any(NOT_YET) ? "provisioning" : "ready";
}
