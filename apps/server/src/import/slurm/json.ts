/**
 * Nodes as JSON. Two layouts: that of 22.05 (`sinfo --json`; SchedMD/slurm `src/plugins/openapi/v0.0.38/nodes.c`:
 * one state in lower case with `state_flags` beside it, features as text) and that of 23.02 on (`scontrol show
 * nodes --json`; `src/plugins/data_parser/v0.0.39` to `v0.0.4x` `parsers.c`, NODE: states and features as lists,
 * numbers that may be `{ set, infinite, number }`). From 23.02 on `sinfo --json` groups nodes and is refused.
 */
import { z } from "zod";
import { ImportError, type Source, badRecord, nameOf, readShape } from "../document.ts";
import { jsonOf } from "../json.ts";
import { type Gres, parseGres } from "./gres.ts";
import type { SlurmNode } from "./node.ts";
import { nodeStateOf } from "./state.ts";

const number = z.union([
  z.number(),
  z
    .object({ set: z.boolean(), number: z.number() })
    .transform((each) => (each.set ? each.number : 0)),
]);
const texts = z
  .union([z.string().transform((text) => text.split(",")), z.array(z.string())])
  .nullish();
const nodeShape = z.object({
  name: z.string(),
  address: z.string().nullish(),
  cpus: number.pipe(z.int().min(0)),
  real_memory: number.pipe(z.int().min(0)),
  gres: z
    .union([
      z.string(),
      z.array(z.object({ name: z.string(), type: z.string().nullish(), count: z.int().min(0) })),
    ])
    .nullish(),
  features: texts,
  partitions: texts,
  state: z.union([z.string().transform((state) => [state]), z.array(z.string())]),
  state_flags: z.array(z.string()).nullish(),
});
type JsonNode = z.output<typeof nodeShape>;

/** Whether an object is what Slurm prints: it says of itself which plugin made it. */
export function isSlurmJson(value: object): boolean {
  const ours = "nodes" in value || "sinfo" in value;
  return ours && ("meta" in value || "errors" in value || "last_update" in value);
}

/** @throws ImportError naming node and field */
export function parseSlurmJson({ file, text }: Source): SlurmNode[] {
  const value = jsonOf(text);
  if (typeof value === "object" && value !== null && "sinfo" in value)
    throw new ImportError(
      "sinfo --json of this version groups nodes: export with scontrol show nodes --json",
    );
  const nodes =
    typeof value === "object" && value !== null && "nodes" in value ? value.nodes : null;
  if (!Array.isArray(nodes)) throw new ImportError("field nodes: must be a list of nodes");
  return nodes.map((node: unknown, at) => readNode(node, { file, number: at + 1 }));
}

function readNode(value: unknown, place: { file: string; number: number }): SlurmNode {
  const ref = { ...place, name: nameOf(value) ?? "?" };
  const node = readShape(nodeShape, value, ref);
  const words = [...node.state, ...(node.state_flags ?? [])];
  const state = nodeStateOf(words);
  if (state === null)
    throw badRecord(ref, "state", `"${words.join("+").slice(0, 64)}" is no state of Slurm's`);
  const gres = gresOf(node);
  if (!gres) throw badRecord(ref, "gres", `${JSON.stringify(node.gres).slice(0, 64)} is not read`);
  return {
    ref: { ...place, name: node.name },
    address: node.address || undefined,
    cpus: node.cpus,
    memoryMiB: node.real_memory,
    gres,
    features: (node.features ?? []).filter((each) => each !== ""),
    partitions: (node.partitions ?? []).filter((each) => each !== ""),
    state,
  };
}

/** As text, or as trackable resources: `{ name: "gpu:h100", count: 8 }`. */
function gresOf({ gres }: JsonNode): Gres[] | null {
  if (gres === null || gres === undefined) return [];
  if (typeof gres === "string") return parseGres(gres);
  const all = gres.map(({ name, type, count }) => {
    // `type` of a trackable resource is the kind of it.
    const full = type && type !== "gres" ? `${name}:${type}` : name.replace(/^gres\//, "");
    return parseGres(`${full}:${count}`);
  });
  return all.every((each) => each !== null) ? all.flat() : null;
}
