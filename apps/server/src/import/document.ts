/** What every import format comes down to: nodes as `fleet.putNodes` takes them, and where they stand. */
import { pathText, reportIssues } from "@berth/api";
import { type InputIssue, type RawInput, contract, inputIssues } from "@berth/contract";
import type { z } from "zod";

export type NodeInput = RawInput<"fleet.putNodes">["nodes"][number];
export type SiteInput = RawInput<"fleet.putSite">;

/** A file as it was read, with the path that it was asked for by. */
export interface Source {
  readonly file: string;
  readonly text: string;
}

/** Where a node was found. Records are counted from 1, as people count them. */
export interface RecordRef {
  readonly file?: string | undefined;
  /** What is counted, when it is not records. */
  readonly unit?: "record" | "line";
  readonly number: number;
  readonly name?: string | undefined;
}

/** A node as a format tells it, not yet checked. */
export interface Found {
  readonly ref: RecordRef;
  readonly node: unknown;
  /** What was left out of it, for the one who reads the outcome. */
  readonly notes?: readonly string[];
}

export interface Findings {
  readonly nodes: readonly Found[];
  /** Where they stand, if the format says. */
  readonly site?: SiteInput | null;
  /** As of a node, but of the file. */
  readonly notes?: readonly string[];
}

export interface ImportDocument {
  /** Where the nodes stand; null when no file says. */
  readonly site: SiteInput | null;
  readonly nodes: readonly NodeInput[];
  /** Where each node was found; absent: in this order, of one file. */
  readonly refs?: readonly RecordRef[];
  readonly notes?: readonly string[];
}

/** The file cannot be imported; the message names file, record and field. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ImportError";
  }
}

/** What is wrong with a file as a whole is told with the file's name. */
export function inFile<T>({ file }: Source, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ImportError) || error.message.startsWith(file)) throw error;
    throw new ImportError(`${file}: ${error.message}`);
  }
}

const nodeSchema = contract.fleet.putNodes.input.shape.nodes.element;
const siteSchema = contract.fleet.putSite.input;

export function badRecord(record: RecordRef, field: string, problem: string): ImportError {
  const at = field === "" ? "" : `, field ${field}`;
  return new ImportError(`${placeOf(record)}${at}: ${problem}`);
}

function placeOf({ file, unit = "record", number, name }: RecordRef): string {
  return `${file === undefined ? "" : `${file}, `}${unit} ${number}${name === undefined ? "" : ` (${name})`}`;
}

/**
 * Every record against the schema that the API itself uses, and all of them together by its own rules:
 * what is checked here is all files, of which a call later carries a part.
 * @throws ImportError at the first bad record
 */
export function checkNodes(found: readonly Found[]): readonly NodeInput[] {
  const seen = new Map<string, RecordRef>();
  const nodes = found.map(({ ref, node }) => {
    const parsed = nodeSchema.safeParse(node);
    if (!parsed.success) throw badRecord(ref, ...firstIssue(parsed.error));
    const earlier = seen.get(parsed.data.name);
    if (earlier) throw badRecord(ref, "name", `is also the name of ${otherPlace(earlier, ref)}`);
    seen.set(parsed.data.name, ref);
    return parsed.data;
  });
  const [issue] = reportIssues(nodes);
  const refs = found.map(({ ref }) => ref);
  if (issue) throw issueOfNodes(issue, nodes, refs) ?? new ImportError(issue.message);
  return nodes;
}

function otherPlace(other: RecordRef, here: RecordRef): string {
  return other.file === here.file || other.file === undefined
    ? `${other.unit ?? "record"} ${other.number}`
    : `${other.unit ?? "record"} ${other.number} of ${other.file}`;
}

/** An issue that begins at a list of nodes, told of the record that the node came from. */
export function issueOfNodes(
  { path: [list, at, ...field], message }: InputIssue,
  nodes: readonly NodeInput[],
  refs: readonly RecordRef[],
): ImportError | null {
  if (list !== "nodes" || typeof at !== "number") return null;
  const node = nodes[at];
  const ref = refs[at];
  if (!node || !ref) return null;
  const problem = message.replace(`node ${node.name}: `, "");
  return badRecord({ ...ref, name: node.name }, pathText(field), problem);
}

/** A record by its shape. @throws ImportError naming the field */
export function readShape<T>(schema: z.ZodType<T>, value: unknown, ref: RecordRef): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badRecord(ref, ...firstIssue(parsed.error));
}

export function checkSite(site: unknown): SiteInput {
  const parsed = siteSchema.safeParse(site);
  if (parsed.success) return parsed.data;
  const [field, problem] = firstIssue(parsed.error);
  throw new ImportError(`site, field ${field}: ${problem}`);
}

/** A name to show in an error, when the record has one. */
export function nameOf(record: unknown): string | undefined {
  if (typeof record !== "object" || record === null || !("name" in record)) return undefined;
  return typeof record.name === "string" ? record.name.slice(0, 64) : undefined;
}

function firstIssue(error: z.ZodError): [field: string, problem: string] {
  const issue = inputIssues(error)[0];
  if (!issue) return ["", "is not valid"];
  return [pathText(issue.path), issue.message];
}
