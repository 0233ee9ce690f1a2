/**
 * The database's own account of a run: triggers that write down every row as it was written, with the
 * transaction that wrote it. Events say what happened and not to which units; the rows do. For runs on
 * databases of their own: never for an installation.
 */
import type { Client } from "@berth/db";
import type { Batch, EventRow, FinalTables, Json, WrittenRow } from "./types.ts";

/** By table: the column that names the gate. */
const GATE_OF = {
  gates: "id",
  gate_batches: "gate_id",
  streams: "id",
  events: "stream",
  pools: "id",
  offers: "pool_id",
  quotas: "pool_id",
  nodes: "gate_id",
  units: "gate_id",
  maintenance: "gate_id",
  unit_reservations: "gate_id",
  reservations: "pool_id",
  bookings: "pool_id",
  reservation_keys: "pool_id",
} as const;
type Table = keyof typeof GATE_OF;

/** To be called before anything is written. */
export async function installJournal(sql: Client): Promise<void> {
  await sql.unsafe(`
    create schema history;
    create table history.journal (
      n bigint generated always as identity primary key,
      xid xid8 not null default pg_current_xact_id(),
      tbl text not null, op text not null, data jsonb not null);
    create function history.note() returns trigger language plpgsql as $$
    begin
      -- What goes to another gate leaves this one: a node, with its units and all that is said of it.
      if tg_op = 'UPDATE' and to_jsonb(old) -> tg_argv[0] <> to_jsonb(new) -> tg_argv[0] then
        insert into history.journal (tbl, op, data) values (tg_table_name, 'D', to_jsonb(old));
      end if;
      insert into history.journal (tbl, op, data) values (tg_table_name, left(tg_op, 1),
        case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end);
      return null;
    end $$;
    ${Object.entries(GATE_OF).map(trigger).join("\n")}`);
}

const trigger = ([table, gate]: readonly [string, string]): string =>
  `create trigger history after insert or update or delete on ${table}
     for each row execute function history.note('${gate}');`;

interface JournalRow {
  readonly xid: string;
  readonly tbl: Table;
  readonly op: WrittenRow["op"];
  readonly data: Json;
}

export interface Taken {
  readonly batches: Batch[];
  /** Nothing that comes later has a lower transaction number than this. */
  readonly horizon: bigint;
}

/**
 * Takes what was written since the last time. One statement sees a transaction whole or not at all, and a
 * gate's transactions commit in the order of its numbers, so no gate's batches have a hole by this.
 */
export async function takeJournal(sql: Client): Promise<Taken> {
  const [first] = await sql<{ horizon: string }[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as horizon`;
  const rows = await sql<(JournalRow & { n: number })[]>`
    delete from history.journal returning n, xid::text as xid, tbl, op, data`;
  const byXid = new Map<string, JournalRow[]>();
  for (const row of rows.toSorted((a, b) => a.n - b.n)) {
    const known = byXid.get(row.xid);
    if (known) known.push(row);
    else byXid.set(row.xid, [row]);
  }
  const batches = [...byXid].flatMap(([xid, written]) => batchesOf(xid, written));
  batches.sort((a, b) => (a.gateId === b.gateId ? a.seq - b.seq : a.gateId < b.gateId ? -1 : 1));
  return { batches, horizon: BigInt(first?.horizon ?? 0) };
}

/** One gate's rows, but for a move: that writes two. */
function batchesOf(xid: string, written: readonly JournalRow[]): Batch[] {
  const heads = new Map<string, { seq: number; at: number }>();
  for (const { tbl, op, data } of written) {
    if ((tbl !== "gates" && tbl !== "streams") || op === "D") continue;
    const seq = Number(data["seq"]);
    if (seq > 0) heads.set(String(data["id"]), { seq, at: Number(data["last_at"] ?? 0) });
  }
  return [...heads].map(([gateId, head]) => {
    const mine = written.filter(({ tbl, data }) => data[GATE_OF[tbl]] === gateId);
    const batch = mine.find(({ tbl, op }) => tbl === "gate_batches" && op === "I");
    return {
      gateId,
      ...head,
      batchId: batch ? String(batch.data["batch_id"]) : gateId.includes(":") ? "stream" : null,
      rows: mine
        .filter(({ tbl }) => !["gates", "gate_batches", "streams", "events"].includes(tbl))
        .map(({ tbl, op, data }) => ({ table: tbl, op, data })),
      events: mine.filter(({ tbl }) => tbl === "events").map(({ data }) => eventOf(xid, data)),
    };
  });
}

function eventOf(xid: string, row: Json): EventRow {
  return {
    xid,
    id: Number(row["id"]),
    tenantId: String(row["tenant_id"]),
    eventId: String(row["event_id"]),
    stream: String(row["stream"]),
    reservationId: row["reservation_id"] as string | null,
    seq: Number(row["seq"]),
    idx: Number(row["idx"]),
    type: String(row["type"]),
    at: Number(row["at"]),
    data: row["data"] as Json,
  };
}

/** @returns the number of every gate now */
export async function gateNumbers(sql: Client): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; seq: number }[]>`
    select id, seq from gates union all select id, seq from streams`;
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** In one snapshot, and with it the journal's last rows: whatever time does meanwhile is in both or in neither. */
export async function takeFinal(sql: Client): Promise<FinalTables> {
  const [row] = await sql<{ tables: FinalTables }[]>`
    select jsonb_build_object(
      'gates', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'seq', seq)), '[]') from gates),
      'reservations', (select coalesce(jsonb_agg(to_jsonb(r)), '[]') from reservations r where ended_at is null),
      'bookings', (select coalesce(jsonb_agg(to_jsonb(b)), '[]') from bookings b
        join reservations r on r.id = b.reservation_id where r.ended_at is null),
      'quotas', (select coalesce(jsonb_agg(to_jsonb(q)), '[]') from quotas q),
      'events', (select coalesce(jsonb_agg(jsonb_build_object('stream', stream, 'count', count)), '[]')
        from (select stream, count(*) from events group by stream) e)
    ) as tables`;
  if (!row) throw new Error("the tables could not be read");
  return row.tables;
}
