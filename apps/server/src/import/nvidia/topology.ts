/**
 * The matrix of `nvidia-smi topo -m`: a row and a column a GPU, `NV#` where # NVLinks join two of them. Its
 * legend: `NV#` a bonded set of # NVLinks; `SYS`, `NODE`, `PHB`, `PXB`, `PIX` paths over PCIe; `X` itself.
 * GPUs are numbered as nvidia-smi lists them. A terminal's underlining of the header is taken off.
 */
import { ImportError } from "../document.ts";

export interface Topology {
  readonly gpus: number;
  /** Pairs of GPUs, by their numbers, that NVLink joins. */
  readonly links: readonly (readonly [number, number])[];
}

// Written as an escape, for the character itself cannot be seen.
const UNDERLINES = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, "g");

export function isTopology(text: string): boolean {
  return /^GPU0\s+X\b/m.test(plain(text.slice(0, 65_536)));
}

const plain = (text: string) => text.replace(UNDERLINES, "");

/** @throws ImportError when it is no matrix */
export function parseTopology(text: string): Topology {
  const lines = plain(text).split(/\r?\n/);
  const header = lines.find((line) => /^[ \t]*GPU0[ \t]+(?!X\b)/.test(line));
  const columns = (header?.trim().split(/\s+/) ?? []).filter((name) => /^GPU\d+$/.test(name));
  if (columns.length === 0) throw new ImportError("the topology has no header with GPU0, GPU1, …");
  const rows = lines
    .filter((line) => /^GPU\d+\s/.test(line))
    .map((line) => line.trim().split(/\s+/));
  const links: [number, number][] = [];
  for (const [at, [name, ...cells]] of rows.entries()) {
    if (name !== `GPU${at}` || cells.length < columns.length)
      throw new ImportError(`topology, row ${at + 1}: must be GPU${at} and a cell for each GPU`);
    for (const [other, cell] of cells.slice(0, columns.length).entries())
      if (/^NV\d+$/.test(cell)) links.push([at, other]);
  }
  if (rows.length !== columns.length)
    throw new ImportError(
      `the topology has ${columns.length} columns of GPUs and ${rows.length} rows`,
    );
  return { gpus: columns.length, links };
}
