/** `nvidia-smi -q -x` files, each with the `nvidia-smi topo -m` of the same machine if that is there. */
import { basename } from "node:path";
import { type Findings, type Found, ImportError, type Source, inFile } from "../document.ts";
import { readSmi } from "./smi.ts";
import { type Topology, parseTopology } from "./topology.ts";

export interface NvidiaSources {
  readonly smi: readonly Source[];
  readonly topologies: readonly Source[];
  /** The machine's name when there is only one; else files are named after their machine. */
  readonly node?: string | undefined;
}

/** @throws ImportError */
export function parseNvidia({ smi, topologies, node }: NvidiaSources): Findings {
  if (node !== undefined && smi.length !== 1)
    throw new ImportError(
      `--node names one machine, and there are ${smi.length} files of nvidia-smi -q -x: name the files after their machines`,
    );
  // One of each belong together whatever they are called.
  const onlyPair = smi.length === 1 && topologies.length === 1;
  const byName = new Map<string, Topology>();
  for (const source of topologies) {
    const name = onlyPair ? machineOf(smi[0] ?? source) : machineOf(source);
    if (byName.has(name)) throw new ImportError(`${source.file}: a second topology of ${name}`);
    byName.set(
      name,
      inFile(source, () => parseTopology(source.text)),
    );
    if (!smi.some((each) => machineOf(each) === name))
      throw new ImportError(
        `${source.file}: a topology without the nvidia-smi -q -x of ${name}: give ${name}.xml as well`,
      );
  }
  return { nodes: smi.map((source) => readOne(source, byName, node)) };
}

function readOne(source: Source, byName: ReadonlyMap<string, Topology>, node?: string): Found {
  const ref = { file: source.file, number: 1, name: node ?? machineOf(source) };
  const topology = byName.get(machineOf(source));
  return { ref, node: inFile(source, () => readSmi(source.text, ref, topology)) };
}

/** `gpu-07.xml` and `gpu-07.topo.txt` are gpu-07's; `gpu-07.lab.example.xml` is gpu-07.lab.example's. */
export function machineOf({ file }: Source): string {
  return basename(file).replace(/(?:\.topo)?(?:\.(?:xml|txt|topo|log|out))?$/i, "");
}
