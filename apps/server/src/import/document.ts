/** What every import format comes down to: nodes as `fleet.putNodes` takes them, and where they stand. */
import { pathText, reportIssues } from "@berth/api";
import { type InputIssue, type RawInput, contract, inputIssues } from "@berth/contract";
import type { z } from "zod";

export type NodeInput = RawInput<"fleet.putNodes">["nodes"][number];
export type SiteInput = RawInput<"fleet.putSite">;

export interface ImportDocument {
  /** Where the nodes stand; null when the file does not say. */
  readonly site: SiteInput | null;
  readonly nodes: readonly NodeInput[];
}

/** The file cannot be imported; the message names record and field. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ImportError";
  }
}

const nodeSchema = contract.fleet.putNodes.input.shape.nodes.element;
const siteSchema = contract.fleet.putSite.input;

/** Records are counted from 1, as people count them. */
export interface RecordRef {
  readonly number: number;
  readonly name?: string | undefined;
}

export function badRecord(record: RecordRef, field: string, problem: string): ImportError {
  const name = record.name === undefined ? "" : ` (${record.name})`;
  const at = field === "" ? "" : `, field ${field}`;
  return new ImportError(`record ${record.number}${name}${at}: ${problem}`);
}

/**
 * Every record against the schema that the API itself uses, and all of them together by its own rules:
 * what is checked here is the whole file, of which a call later carries a part.
 * @throws ImportError at the first bad record
 */
export function checkNodes(records: readonly unknown[]): readonly NodeInput[] {
  const seen = new Map<string, number>();
  const nodes = records.map((record, index) => {
    const ref = { number: index + 1, name: nameOf(record) };
    const parsed = nodeSchema.safeParse(record);
    if (!parsed.success) throw badRecord(ref, ...firstIssue(parsed.error));
    const earlier = seen.get(parsed.data.name);
    if (earlier !== undefined)
      throw badRecord(ref, "name", `is also the name of record ${earlier}`);
    seen.set(parsed.data.name, ref.number);
    return parsed.data;
  });
  const [issue] = reportIssues(nodes);
  if (issue) throw issueOfNodes(issue, nodes) ?? new ImportError(issue.message);
  return nodes;
}

/** An issue that begins at a list of nodes, told of its record; `first` is the list's place in the file. */
export function issueOfNodes(
  { path: [list, at, ...field], message }: InputIssue,
  nodes: readonly NodeInput[],
  first = 0,
): ImportError | null {
  const node = list === "nodes" && typeof at === "number" ? nodes[at] : undefined;
  if (!node) return null;
  const problem = message.replace(`node ${node.name}: `, "");
  return badRecord({ number: first + Number(at) + 1, name: node.name }, pathText(field), problem);
}

export function checkSite(site: unknown): SiteInput {
  const parsed = siteSchema.safeParse(site);
  if (parsed.success) return parsed.data;
  const [field, problem] = firstIssue(parsed.error);
  throw new ImportError(`site, field ${field}: ${problem}`);
}

function nameOf(record: unknown): string | undefined {
  if (typeof record !== "object" || record === null || !("name" in record)) return undefined;
  return typeof record.name === "string" ? record.name.slice(0, 64) : undefined;
}

function firstIssue(error: z.ZodError): [field: string, problem: string] {
  const issue = inputIssues(error)[0];
  if (!issue) return ["", "is not valid"];
  return [pathText(issue.path), issue.message];
}
