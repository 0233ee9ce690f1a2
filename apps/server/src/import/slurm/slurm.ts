/** Slurm's outputs and configuration, in any number of files. */
import { type Findings, ImportError, type Source, inFile } from "../document.ts";
import { GresConf } from "./gres-conf.ts";
import { parseSlurmJson } from "./json.ts";
import { toFound } from "./node.ts";
import { parseScontrol } from "./scontrol.ts";
import { parseSlurmConf } from "./slurm-conf.ts";

export interface SlurmSources {
  readonly scontrol: readonly Source[];
  readonly json: readonly Source[];
  readonly conf: readonly Source[];
  readonly gresConf: readonly Source[];
}

/** @throws ImportError */
export function parseSlurm({ scontrol, json, conf, gresConf }: SlurmSources): Findings {
  const [first] = gresConf;
  if (first && scontrol.length + json.length + conf.length === 0)
    throw new ImportError(
      `${first.file}: a gres.conf says how GPUs are wired, not which nodes there are: give slurm.conf or scontrol show nodes as well`,
    );
  const configured = parseSlurmConf(conf);
  const nodes = [
    ...scontrol.flatMap((source) => inFile(source, () => parseScontrol(source))),
    ...json.flatMap((source) => inFile(source, () => parseSlurmJson(source))),
    ...configured.nodes,
  ];
  const devices = first ? new GresConf(gresConf) : null;
  return { nodes: nodes.map((node) => toFound(node, devices)), notes: configured.notes };
}
