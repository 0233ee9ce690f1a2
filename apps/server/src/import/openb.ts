/** The openb node list: CSV with a header, `sn,cpu_milli,memory_mib,gpu,model`; one machine a line. */
import { CsvError, parse } from "csv-parse/sync";
import { type ImportDocument, ImportError, badRecord, checkNodes } from "./document.ts";

const COLUMNS = ["sn", "cpu_milli", "memory_mib", "gpu", "model"] as const;
type Row = Record<(typeof COLUMNS)[number], string>;

/** Whether the first line is this format's. */
export function isOpenb(text: string): boolean {
  return text.replace(/^\uFEFF/, "").startsWith("sn,");
}

/** @throws ImportError */
export function parseOpenb(text: string): ImportDocument {
  return { site: null, nodes: checkNodes(rowsOf(text).map(toNode)) };
}

function rowsOf(text: string): Row[] {
  try {
    const rows = parse<Row>(text, {
      bom: true,
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

function toNode(row: Row, index: number): unknown {
  const record = { number: index + 1, name: row.sn };
  const whole = (column: "cpu_milli" | "memory_mib" | "gpu", max: number) => {
    if (/^\d{1,12}$/.test(row[column]) && Number(row[column]) <= max) return Number(row[column]);
    throw badRecord(
      record,
      column,
      `must be a whole number from 0 to ${max}, not "${row[column]}"`,
    );
  };
  if (row.sn === "") throw badRecord({ number: index + 1 }, "sn", "must not be empty");
  const gpus = whole("gpu", 64);
  if (gpus > 0 && row.model === "") throw badRecord(record, "model", "must not be empty");
  return {
    name: row.sn,
    vcpu: Math.floor(whole("cpu_milli", 4_096_000) / 1_000),
    memoryGiB: Math.floor(whole("memory_mib", 67_108_864) / 1_024),
    gpus: Array.from({ length: gpus }, (_, i) => ({
      uuid: `${row.sn}-gpu-${i}`,
      index: i,
      model: row.model,
    })),
  };
}
