/** What every import format comes down to: nodes as `fleet.putNodes` takes them, and where they stand. */
import { type RawInput, contract, inputIssues } from "@berth/contract";
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
 * Every record against the schema that the API itself uses, and no two of one name.
 * @throws ImportError at the first bad record
 */
export function checkNodes(records: readonly unknown[]): readonly NodeInput[] {
  const seen = new Map<string, number>();
  return records.map((record, index) => {
    const ref = { number: index + 1, name: nameOf(record) };
    const parsed = nodeSchema.safeParse(record);
    if (!parsed.success) throw badRecord(ref, ...firstIssue(parsed.error));
    const earlier = seen.get(parsed.data.name);
    if (earlier !== undefined)
      throw badRecord(ref, "name", `is also the name of record ${earlier}`);
    seen.set(parsed.data.name, ref.number);
    return parsed.data;
  });
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
  const steps = issue.path.map((step, i) =>
    typeof step === "number" ? `[${step}]` : dotted(step, i),
  );
  return [steps.join(""), issue.message];
}

const dotted = (step: string, i: number) => (i === 0 ? step : `.${step}`);
