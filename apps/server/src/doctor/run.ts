/**
 * `berth doctor`: recomputes every invariant from the rows of a live database, all checks on one
 * snapshot, and names whatever does not hold. Reads only.
 */
import { SlotPool } from "@berth/db";
import { explain } from "./explanations.ts";
import { guards } from "./guards.ts";
import { overlap } from "./i1-overlap.ts";
import { quota } from "./i2-quota.ts";
import { rollup } from "./i3-rollup.ts";
import { members } from "./i4-members.ts";
import { keys } from "./i5-keys.ts";
import { events } from "./i6-events.ts";
import { withheld } from "./i7-withheld.ts";
import { scalars } from "./i8-scalars.ts";
import type { Check, Invariant, Query, Violation } from "./query.ts";

const CHECKS: readonly Check[] = [
  overlap,
  quota,
  rollup,
  members,
  keys,
  events,
  withheld,
  scalars,
  guards,
];

export interface Finding {
  readonly invariant: Invariant;
  readonly title: string;
  readonly violations: readonly Violation[];
}

export interface Report {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}

/** A large history takes its time; nobody waits for the doctor but the one who called it. */
const PATIENCE_MS = 1_800_000;

/** Examines the database at this URL; other writers go on meanwhile and are not seen. */
export async function examine(databaseUrl: string): Promise<Report> {
  const slots = new SlotPool(databaseUrl, {
    slots: 1,
    applicationName: "berth-doctor",
    answerMs: PATIENCE_MS,
    bounds: { statement_timeout: PATIENCE_MS, idle_in_transaction_session_timeout: PATIENCE_MS },
  });
  try {
    return await slots.tx(async ({ q }) => {
      await q("set transaction isolation level repeatable read, read only");
      return examineSnapshot(q);
    });
  } finally {
    await slots.end();
  }
}

async function examineSnapshot(query: Query): Promise<Report> {
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    const { invariant, title } = check;
    findings.push({ invariant, title, violations: await check.run(query) });
  }
  return { healthy: findings.every(({ violations }) => violations.length === 0), findings };
}

/** What there is to be asked about, in the order of the report. */
export const CHECK_NAMES: readonly Invariant[] = CHECKS.map(({ invariant }) => invariant);

/** What one check is about, without looking at a database. */
export function explainCheck(invariant: Invariant): string {
  const title = CHECKS.find((check) => check.invariant === invariant)?.title ?? "";
  return `${invariant}  holds when: ${title}\n${explain(invariant)}`;
}

/** The report as people read it: a line an invariant, and under it every violation. */
export function render(report: Report, options: { readonly explain?: boolean } = {}): string {
  const width = Math.max(...report.findings.map((finding) => finding.title.length));
  return report.findings
    .flatMap(({ invariant, title, violations }) => [
      `${invariant.padEnd(5)}  ${title.padEnd(width)}  ${verdict(violations.length)}`,
      ...violations.map((violation) => `       - ${violation.message}`),
      ...(options.explain && violations.length > 0 ? [explain(invariant)] : []),
    ])
    .join("\n");
}

function verdict(count: number): string {
  if (count === 0) return "ok";
  return count === 1 ? "1 violation" : `${count} violations`;
}
