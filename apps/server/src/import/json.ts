/** Our own format: `{ "site": { tenantId, name, region, kind? }, "nodes": [ … ] }`, nodes as the API takes them. */
import { type ImportDocument, ImportError, checkNodes, checkSite } from "./document.ts";

/** @throws ImportError */
export function parseJson(text: string): ImportDocument {
  const document = parse(text);
  const unknown = Object.keys(document).find((key) => key !== "site" && key !== "nodes");
  if (unknown !== undefined)
    throw new ImportError(`field ${unknown}: the file has only site and nodes`);
  if (!Array.isArray(document.nodes)) throw new ImportError("field nodes: must be a list of nodes");
  return {
    site: document.site === undefined ? null : checkSite(document.site),
    nodes: checkNodes(document.nodes),
  };
}

function parse(text: string): { site?: unknown; nodes?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw new ImportError(`the file is not JSON: ${error instanceof Error ? error.message : "?"}`);
  }
  throw new ImportError('the file must be an object with "nodes" and, if it likes, "site"');
}
