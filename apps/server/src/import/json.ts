/** Our own format: `{ "site": { tenantId, name, region, kind? }, "nodes": [ … ] }`, nodes as the API takes them. */
import { type Findings, ImportError, type Source, checkSite, nameOf } from "./document.ts";

/** @throws ImportError */
export function parseJson({ file, text }: Source): Findings {
  const document = parse(text);
  const unknown = Object.keys(document).find((key) => key !== "site" && key !== "nodes");
  if (unknown !== undefined)
    throw new ImportError(`field ${unknown}: the file has only site and nodes`);
  if (!Array.isArray(document.nodes)) throw new ImportError("field nodes: must be a list of nodes");
  return {
    site: document.site === undefined ? null : checkSite(document.site),
    nodes: document.nodes.map((node: unknown, at) => ({
      ref: { file, number: at + 1, name: nameOf(node) },
      node,
    })),
  };
}

function parse(text: string): { site?: unknown; nodes?: unknown } {
  const value = jsonOf(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new ImportError('the file must be an object with "nodes" and, if it likes, "site"');
}

/** @throws ImportError */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ImportError(`the file is not JSON: ${error instanceof Error ? error.message : "?"}`);
  }
}
