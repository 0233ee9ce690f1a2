/**
 * `scontrol show nodes`: a paragraph a node, or a line with `--oneliner`. The fields are those that SchedMD/slurm
 * `src/api/node_info.c` (slurm_sprint_node_table) prints; what people wrote (Reason, Comment, Extra) comes last,
 * so the first of a key is Slurm's own.
 */
import { type Source, badRecord } from "../document.ts";
import { parseGres } from "./gres.ts";
import type { SlurmNode } from "./node.ts";
import { nodeStateOf } from "./state.ts";

export function isScontrol(text: string): boolean {
  return /^NodeName=\S+\s/m.test(text) && /\bCPUTot=\d/.test(text);
}

/** @throws ImportError naming node and field */
export function parseScontrol({ file, text }: Source): SlurmNode[] {
  const records = text.split(/^(?=NodeName=)/m).filter((record) => record.startsWith("NodeName="));
  return records.map((record, at) => readNode(fieldsOf(record), { file, number: at + 1 }));
}

type Fields = ReadonlyMap<string, string>;

/** Written by people, or by the kernel: reach to the end of their line, whatever is in them. */
const FREE = new Set(["OS", "Comment", "Extra", "Reason", "InstanceId", "InstanceType"]);

/** Other values reach to the next key. All fields of `--oneliner` stand on one line, free ones last but OS. */
function fieldsOf(record: string): Fields {
  const fields = new Map<string, string>();
  const lines = record.trimEnd().split(/\r?\n/);
  for (const line of lines) {
    const keys = [...line.matchAll(/(?:^|\s)([A-Za-z]\w*)=/g)];
    for (const [at, key] of keys.entries()) {
      const name = key[1] ?? "";
      const free = lines.length > 1 && FREE.has(name);
      const end = free ? undefined : keys[at + 1]?.index;
      if (!fields.has(name)) fields.set(name, line.slice(key.index + key[0].length, end).trim());
      if (free) break;
    }
  }
  return fields;
}

function readNode(fields: Fields, place: { file: string; number: number }): SlurmNode {
  const name = fields.get("NodeName") ?? "";
  const ref = { ...place, name: name.slice(0, 64) };
  const gres = parseGres(fields.get("Gres") ?? "");
  if (!gres) throw badRecord(ref, "Gres", `"${fields.get("Gres")?.slice(0, 64)}" is not read`);
  const words = fields.get("State");
  if (words === undefined) throw badRecord(ref, "State", "is missing");
  const state = nodeStateOf(words.split("+"));
  if (state === null)
    throw badRecord(ref, "State", `"${words.slice(0, 64)}" is no state of Slurm's`);
  const whole = (key: string) => {
    const text = fields.get(key) ?? "";
    if (/^\d{1,12}$/.test(text)) return Number(text);
    const problem =
      text === "" ? "is missing" : `must be a whole number, not "${text.slice(0, 32)}"`;
    throw badRecord(ref, key, problem);
  };
  return {
    ref: { ...place, name },
    address: textOf(fields.get("NodeAddr")),
    cpus: whole("CPUTot"),
    memoryMiB: whole("RealMemory"),
    gres,
    features: listOf(fields.get("AvailableFeatures")),
    partitions: listOf(fields.get("Partitions")),
    state,
  };
}

const textOf = (text: string | undefined) =>
  text === undefined || text === "" || text === "(null)" ? undefined : text;

const listOf = (text: string | undefined) =>
  (textOf(text) ?? "").split(",").filter((each) => each !== "");
