/** Nodes and ResourceSlices of any number of files, joined by the node's name. */
import { type Findings, type Found, type Source, inFile } from "../document.ts";
import type { NodeDraft } from "../draft.ts";
import { readNode } from "./node.ts";
import { type KubernetesObject, readObjects } from "./objects.ts";
import { nothingThere, readSlices } from "./slices.ts";

/** @throws ImportError */
export function parseKubernetes(sources: readonly Source[]): Findings {
  const objects = sources.flatMap((source) => inFile(source, () => objectsOf(source)));
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const slices = readSlices(of("ResourceSlice"));
  const notes = [...slices.notes, ...otherKinds(objects)];
  const nodes: Found[] = [];
  const named = new Set<string>();
  for (const object of of("Node")) {
    nodes.push(readNode(object, slices.byNode.get(nameOf(object))));
    named.add(nameOf(object));
  }
  for (const [name, { ref, gpus }] of slices.byNode) {
    if (named.has(name)) continue;
    const node: NodeDraft = { name, gpus };
    const note = `${name}: only its ResourceSlices are there, so it has GPUs and no CPU or memory`;
    nodes.push({ ref: { ...ref, name }, node, notes: [note] });
  }
  return { nodes, notes };
}

function objectsOf(source: Source): KubernetesObject[] {
  const objects = readObjects(source);
  if (!objects.some(({ kind }) => kind === "Node" || kind === "ResourceSlice"))
    throw nothingThere();
  return objects;
}

function nameOf({ value }: KubernetesObject): string {
  const { name } = (value as { metadata?: { name?: unknown } }).metadata ?? {};
  return typeof name === "string" ? name : "";
}

function otherKinds(objects: readonly KubernetesObject[]): string[] {
  const other = objects.filter(({ kind }) => kind !== "Node" && kind !== "ResourceSlice");
  if (other.length === 0) return [];
  const kinds = [...new Set(other.map(({ kind }) => kind || "no kind"))].slice(0, 5);
  return [`${other.length} other objects left out (${kinds.join(", ")})`];
}
