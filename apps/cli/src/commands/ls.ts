/** `berth ls`. */
import type {
  ListReservationsInput,
  Reservation,
  ReservationPage,
  ReservationState,
} from "@berth/client";
import { usage } from "../exit.ts";
import { say } from "../io.ts";
import { type OutputOptions, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { type Session, type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { local, parseTime, utc } from "../time.ts";
import { poolName, poolOf, whatOf, wholeNumber } from "../words.ts";

export interface ListOptions extends OutputOptions, TenantOption {
  readonly state?: string;
  readonly pool?: string;
  readonly project?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

const LIVE: readonly ReservationState[] = ["scheduled", "active", "preempting"];
const PAGE_MAX = 200;
const LIMIT = 50;

export async function ls({ io, onServer }: Call, options: ListOptions): Promise<void> {
  const session = await openSession(io, options);
  onServer(session.url);
  const limit = options.limit === undefined ? LIMIT : wholeNumber(options.limit, "--limit");
  if (limit < 1) throw usage("--limit is at least 1");
  const data = await collect(session, await inputOf(session, options, io.now()), limit);
  const isTable = (options.output ?? "table") === "table";
  const labels =
    isTable && data.reservations.length > 0 ? await labelsOf(session) : new Map<string, string>();
  await print(io, options, {
    data,
    entries: data.reservations,
    lines: ({ main }) => main(data.reservations, columns(labels)),
  });
  if (isTable && data.reservations.length === 0)
    say(io, "nothing; --state all shows what has ended");
  if (data.nextCursor !== null)
    say(io, `there are more: --limit ${limit * 2}, or --cursor ${data.nextCursor}`);
}

async function inputOf(
  session: Session,
  { state, pool, project, from, to, cursor }: ListOptions,
  now: number,
): Promise<ListReservationsInput> {
  const states = state === undefined ? LIVE : state.split(",").map((name) => name.trim());
  return {
    tenantId: await session.tenantId(),
    // The server says which states there are.
    ...(state === "all" ? {} : { state: states as ReservationState[] }),
    ...(pool === undefined ? {} : { poolId: await poolOf(session, pool) }),
    ...(project === undefined ? {} : { projectId: project }),
    ...(from === undefined ? {} : { from: await parseTime(from, "--from", now) }),
    ...(to === undefined ? {} : { to: await parseTime(to, "--to", now) }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** As many pages as it takes, in the shape of one. */
async function collect(
  { berth }: Session,
  input: ListReservationsInput,
  limit: number,
): Promise<ReservationPage> {
  const reservations: Reservation[] = [];
  let cursor: string | null = input.cursor ?? null;
  do {
    const more = { limit: Math.min(PAGE_MAX, limit - reservations.length) };
    const page: ReservationPage = await berth.reservations.list({
      ...input,
      ...more,
      ...(cursor === null ? {} : { cursor }),
    });
    reservations.push(...page.reservations);
    cursor = page.nextCursor;
  } while (cursor !== null && reservations.length < limit);
  return { reservations, nextCursor: cursor };
}

async function labelsOf({ berth, tenantId }: Session): Promise<Map<string, string>> {
  const { pools } = await berth.pools.list({ tenantId: await tenantId() });
  return new Map(pools.map((pool) => [pool.id, poolName(pool)]));
}

function columns(labels: ReadonlyMap<string, string>): Column<Reservation>[] {
  return [
    { name: "state", of: ({ state }) => state },
    { name: "what", of: whatOf },
    { name: "start", of: ({ start }) => local(start) },
    { name: "end", of: ({ end }) => local(end) },
    { name: "pool", of: ({ poolId }) => labels.get(poolId) ?? poolId },
    { name: "spot", of: ({ spot }) => spot, isWide: true },
    { name: "start-utc", of: ({ start }) => utc(start), isWide: true },
    { name: "end-utc", of: ({ end }) => utc(end), isWide: true },
    { name: "project", of: ({ projectId }) => projectId, isWide: true },
    { name: "by", of: ({ createdBy }) => createdBy, isWide: true },
    { name: "pool-id", of: ({ poolId }) => poolId, isWide: true },
    { name: "id", of: ({ id }) => id },
  ];
}
