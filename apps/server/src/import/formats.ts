/** Which format a file is in, by what is in it. */
import { ImportError, type Source } from "./document.ts";
import { isSmi } from "./nvidia/smi.ts";
import { isTopology } from "./nvidia/topology.ts";
import { isOpenb } from "./openb.ts";
import { isSlurmJson } from "./slurm/json.ts";
import { isScontrol } from "./slurm/scontrol.ts";

/** What `--format` takes, and what each is. */
export const FORMATS = {
  berth: "our own JSON",
  openb: "the openb node list (CSV)",
  kubernetes: "kubectl get nodes,resourceslices.resource.k8s.io -o json or yaml",
  "nvidia-smi": "nvidia-smi -q -x",
  "nvidia-topo": "nvidia-smi topo -m",
  scontrol: "scontrol show nodes",
  "slurm-json": "scontrol show nodes --json, or sinfo --json of 22.05",
  "slurm.conf": "slurm.conf",
  "gres.conf": "gres.conf",
} as const;
export type Format = keyof typeof FORMATS;

export function isFormat(text: string): text is Format {
  return Object.hasOwn(FORMATS, text);
}

/** @throws ImportError when nothing of it is known */
export function formatOf({ text }: Source): Format {
  if (isOpenb(text)) return "openb";
  if (/^\s*[{[]/.test(text)) return jsonFormat(text);
  if (isSmi(text)) return "nvidia-smi";
  if (isTopology(text)) return "nvidia-topo";
  if (isScontrol(text)) return "scontrol";
  if (/^ReservationName=\S+\s+StartTime=/m.test(text))
    throw new ImportError(
      "reservations of Slurm, not machines: plan the maintenance of a node with fleet.scheduleMaintenance",
    );
  if (/^(?:---\s*\n)?(?:apiVersion|kind|items|metadata):/m.test(text.slice(0, 65_536)))
    return "kubernetes";
  if (SLURM_CONF.test(text)) return "slurm.conf";
  if (GRES_CONF.test(text)) return "gres.conf";
  throw new ImportError(
    `is in none of the formats that are read (${Object.values(FORMATS).join("; ")}); ` +
      `if it is one of them, say which: --format ${Object.keys(FORMATS).join("|")}`,
  );
}

// A line of gres.conf may begin with NodeName too, and then goes on with Name or AutoDetect.
const SLURM_CONF =
  /^[ \t]*(?:ClusterName|SlurmctldHost|ControlMachine|PartitionName|NodeSet|NodeName=\S+[ \t]+(?!Name=|AutoDetect=)\w+)=?/im;
const GRES_CONF = /^[ \t]*(?:NodeName=\S+[ \t]+)?(?:Name|AutoDetect)=/im;

/** A JSON that cannot be read is told of by the reader of ours. */
function jsonFormat(text: string): Format {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "berth";
    if ("kind" in value && "apiVersion" in value) return "kubernetes";
    return isSlurmJson(value) ? "slurm-json" : "berth";
  } catch {
    return "berth";
  }
}
