/** The openb node list: CSV with a header, `sn,cpu_milli,memory_mib,gpu,model`; one machine a line. */
import { CsvError, parse } from "csv-parse/sync";
import { type Findings, type Found, ImportError, type Source, badRecord } from "./document.ts";
import { type NodeDraft, derivedUuid } from "./draft.ts";

const COLUMNS = ["sn", "cpu_milli", "memory_mib", "gpu", "model"] as const;
type Row = Record<(typeof COLUMNS)[number], string>;

/** Whether the first line is this format's. */
export function isOpenb(text: string): boolean {
  return text.startsWith("sn,");
}

/** @throws ImportError */
export function parseOpenb({ file, text }: Source): Findings {
  return { nodes: rowsOf(text).map((row, at) => toNode(row, { file, number: at + 1 })) };
}

function rowsOf(text: string): Row[] {
  try {
    const rows = parse<Row>(text, {
      columns: (header: string[]) => checkHeader(header),
      skip_empty_lines: true,
      trim: true,
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ImportError(`record ${Number(error.records ?? 0) + 1}: ${error.message}`);
  }
}

function checkHeader(header: string[]): string[] {
  const missing = COLUMNS.find((column) => !header.includes(column));
  if (missing !== undefined) throw new ImportError(`the header has no column ${missing}`);
  return header;
}

function toNode(row: Row, place: { file: string; number: number }): Found {
  const record = { ...place, name: row.sn };
  const whole = (column: "cpu_milli" | "memory_mib" | "gpu", max: number) => {
    if (/^\d{1,12}$/.test(row[column]) && Number(row[column]) <= max) return Number(row[column]);
    throw badRecord(
      record,
      column,
      `must be a whole number from 0 to ${max}, not "${row[column]}"`,
    );
  };
  if (row.sn === "") throw badRecord(place, "sn", "must not be empty");
  const gpus = whole("gpu", 64);
  if (gpus > 0 && row.model === "") throw badRecord(record, "model", "must not be empty");
  const node: NodeDraft = {
    name: row.sn,
    vcpu: Math.floor(whole("cpu_milli", 4_096_000) / 1_000),
    memoryGiB: Math.floor(whole("memory_mib", 67_108_864) / 1_024),
    gpus: Array.from({ length: gpus }, (_, index) => ({
      uuid: derivedUuid(row.sn, index),
      index,
      model: row.model,
    })),
  };
  return { ref: record, node };
}
