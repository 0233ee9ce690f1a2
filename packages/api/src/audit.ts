/**
 * The audit trail: every mutation with its outcome, and denials counted per principal, method and minute,
 * so that nobody can make it grow by knocking. Callers without a key leave a log line and no row.
 *
 * A successful mutation's row is in the database before its answer leaves: that of a booking in the very write that
 * stores it, the others after theirs. Rows of calls that end together share one insert.
 */
import type { ErrorCode } from "@berth/contract";
import type { AuditEntry, Database } from "@berth/db";
import type { TenantId } from "@berth/domain";
import type { ApiObserver, Call, Log } from "./call.ts";

export interface AuditRow extends AuditEntry {
  /** `ok` or an error code. */
  readonly outcome: "ok" | ErrorCode;
  /** Calls that the row stands for; absent: 1. */
  readonly count?: number;
}

export interface Audit {
  /** Resolves when the row is written, or could not be: what is done already is answered all the same. */
  record(row: AuditRow): Promise<void>;
  /** Counts a refusal that came before the method ran, in the caller's own tenant. */
  deny(call: Call, code: ErrorCode): void;
  /** Writes what is held back. */
  stop(): Promise<void>;
}

/** How a call of the tenant is on file. */
export function auditEntry(
  { method, principal, requestId }: Call,
  tenantId: TenantId,
  target: string | null,
): AuditEntry {
  return { principal: principal.id, tenantId, method, target, requestId };
}

const MINUTE_MS = 60_000;
const BATCH_MAX = 1_000;
const QUEUE_MAX = 20_000;
/** Distinct (principal, method, code) a minute; past it, denials are only logged. */
const DENIALS_MAX = 10_000;

interface Waiting {
  readonly row: AuditRow;
  done(): void;
}

interface Denial {
  readonly row: AuditRow;
  count: number;
}

export function createAudit(db: Database, log: Log, observer: ApiObserver = {}): Audit {
  const queue: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let denials = new Map<string, Denial>();

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX);
      await insert(
        db,
        batch.map(({ row }) => row),
      ).catch((error: unknown) => {
        const cause = error instanceof Error ? error.name : "unknown";
        log.error({ rows: batch.length, cause }, "audit rows were lost");
        observer.auditLost?.(batch.length);
      });
      for (const { done } of batch) done();
    }
    writing = null;
  };

  const record = (row: AuditRow): Promise<void> => {
    if (queue.length >= QUEUE_MAX) {
      log.error({ rows: 1, cause: "queue full" }, "audit rows were lost");
      observer.auditLost?.(1);
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push({ row, done: resolve });
    writing ??= drain();
    return promise;
  };

  const flushDenials = async (): Promise<void> => {
    const held = [...denials.values()];
    denials = new Map();
    await Promise.all(held.map(({ row, count }) => record({ ...row, count })));
  };
  const timer = setInterval(() => void flushDenials(), MINUTE_MS);
  timer.unref();

  return {
    record,
    deny(call, code) {
      const { principal, method, requestId } = call;
      const key = `${principal.id} ${method} ${code}`;
      const known = denials.get(key);
      if (known) known.count += 1;
      else if (denials.size < DENIALS_MAX)
        denials.set(key, {
          row: {
            principal: principal.id,
            tenantId: principal.tenantId,
            method,
            outcome: code,
            target: null,
            requestId,
          },
          count: 1,
        });
      else log.warn({ principal: principal.id, method, code }, "denied");
    },
    async stop() {
      clearInterval(timer);
      await flushDenials();
      await writing;
    },
  };
}

async function insert(db: Database, rows: readonly AuditRow[]): Promise<void> {
  await db.slots.run(
    `insert into audit (at, principal, tenant_id, method, outcome, target, request_id, count)
     select berth.now_ms(), r.principal, r."tenantId", r.method, r.outcome, r.target, r."requestId",
       coalesce(r.count, 1)
     from jsonb_to_recordset($1::text::jsonb) as r
       (principal text, "tenantId" text, method text, outcome text, target text, "requestId" text,
        count integer)`,
    [JSON.stringify(rows)],
  );
}
