/** `berth watch`: events as they happen. */
import type { Event, WatchInput } from "@berth/client";
import { EXIT, Quit, usage } from "../exit.ts";
import type { Io } from "../io.ts";
import { clean, cleanJson } from "../output/clean.ts";
import { type Format, type OutputOptions, formatOf, toYaml } from "../output/print.ts";
import { type Session, type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { local } from "../time.ts";
import { poolOf, wholeNumber } from "../words.ts";

export interface WatchCommandOptions extends OutputOptions, TenantOption {
  readonly pool?: string;
  readonly after?: string;
  readonly count?: string;
}

export async function watch(
  { io, args, onServer }: Call,
  options: WatchCommandOptions,
): Promise<void> {
  const format = formatOf(options);
  if (format === "json") throw usage("a stream has no end, and so no -o json: use -o jsonl");
  const most = options.count === undefined ? Infinity : wholeNumber(options.count, "--count");
  const session = await openSession(io, options);
  onServer(session.url);
  const input = await inputOf(session, options, args[0]);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort(new Quit(EXIT.ok));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    let seen = 0;
    for await (const event of session.berth.reservations.watch(input, { signal: stopped.signal })) {
      await write(io, format, event);
      if (++seen >= most) break;
    }
  } catch (error) {
    if (error !== stopped.signal.reason) throw error;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

async function inputOf(
  session: Session,
  { pool, after }: WatchCommandOptions,
  reservationId: string | undefined,
): Promise<WatchInput> {
  const tenantId = await session.tenantId();
  // Of one that is not there nothing would ever be told.
  if (reservationId !== undefined)
    await session.berth.reservations.get({ tenantId, reservationId });
  return {
    tenantId,
    ...(reservationId === undefined ? {} : { reservationId }),
    ...(pool === undefined ? {} : { poolId: await poolOf(session, pool) }),
    ...(after === undefined ? {} : { lastEventId: after }),
  };
}

async function write(io: Io, format: Format, event: Event): Promise<void> {
  if (format === "yaml") io.stdout.write(`---\n${await toYaml(event)}\n`);
  else io.stdout.write(`${format === "jsonl" ? cleanJson(JSON.stringify(event)) : line(event)}\n`);
}

/** When, what, and to which one. */
function line({ at, type, data }: Event): string {
  const { reservationId, state, endReason } = data as {
    readonly reservationId?: string;
    readonly state?: string;
    readonly endReason?: string | null;
  };
  const parts = [local(at), type, reservationId, state, endReason];
  return clean(parts.filter((part) => part !== undefined && part !== null).join("  "));
}
