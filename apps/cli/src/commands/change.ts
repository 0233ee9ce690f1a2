/** `berth renew`, `extend` and `release`: what changes a booking that there is. */
import { type Reservation, isBerthError } from "@berth/client";
import { confirm } from "../ask.ts";
import { EXIT, type Status, usage } from "../exit.ts";
import { say } from "../io.ts";
import { sayNext } from "../next-steps.ts";
import { type OutputOptions, print } from "../output/print.ts";
import { facts, reservationAnswer } from "../reservation-view.ts";
import { type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { both, length, parseTime } from "../time.ts";
import { whatOf } from "../words.ts";
import { failureOf } from "../failure.ts";

export interface ChangeOptions extends OutputOptions, TenantOption {
  readonly yes?: boolean;
}

export async function renew({ io, args, onServer }: Call, options: ChangeOptions): Promise<void> {
  const { berth, url, tenantId } = await openSession(io, options);
  onServer(url);
  const [reservationId = ""] = args;
  const renewed = await berth.reservations.renew({ tenantId: await tenantId(), reservationId });
  await print(io, options, reservationAnswer(renewed, io.now()));
}

export interface ExtendOptions extends ChangeOptions {
  readonly until?: string;
  readonly dryRun?: boolean;
}

export async function extend(call: Call, options: ExtendOptions): Promise<Status> {
  const { io, args, onServer } = call;
  const { until, dryRun } = options;
  if (until === undefined)
    throw usage('--until says the new end: --until "fri 18:00", --until "+2h"');
  const { berth, url, tenantId } = await openSession(io, options);
  onServer(url);
  const of = { tenantId: await tenantId(), reservationId: args[0] ?? "" };
  const now = await berth.reservations.get(of);
  const relative = until.trim().startsWith("+");
  const end = await parseTime(until, "--until", relative ? now.end : io.now());
  const planned = await berth.reservations.extend({ ...of, end, dryRun: true }).safe();
  if (!planned.ok) {
    const latest = isBerthError(planned.error, "NO_CAPACITY")
      ? planned.error.details?.latestEnd
      : null;
    const { status, lines } = failureOf(planned.error, url);
    for (const line of lines) say(io, line === lines[0] ? `berth: ${line}` : line);
    if (latest) {
      say(io, `  latest   ${both(latest)}`);
      say(io, `  so       berth extend ${now.id} --until ${new Date(latest).toISOString()}`);
    }
    return status;
  }
  if (dryRun) {
    const { data, lines } = reservationAnswer(planned.data, io.now());
    const told = "nothing was changed: this is what it would be";
    await print(io, options, { data, lines: (tables) => [told, "", ...lines(tables)] });
    return EXIT.ok;
  }
  for (const line of plan(now, end)) say(io, line);
  await confirm(io, `Extend it by ${length(end - now.end)}?`, options.yes);
  const extended = await berth.reservations.extend({ ...of, end, version: now.version });
  await print(io, options, reservationAnswer(extended, io.now()));
  sayNext(io, extended);
  return EXIT.ok;
}

function plan(now: Reservation, end: number): string[] {
  return facts([
    ["extend", `${now.id}, ${whatOf(now)}`],
    ["from", both(now.end)],
    ["to", both(end)],
  ]);
}

export async function release({ io, args, onServer }: Call, options: ChangeOptions): Promise<void> {
  const { berth, url, tenantId } = await openSession(io, options);
  onServer(url);
  const of = { tenantId: await tenantId(), reservationId: args[0] ?? "" };
  const now = await berth.reservations.get(of);
  if (now.endedAt === null) {
    const ending = facts([
      ["release", `${now.id}, ${now.state}, ${whatOf(now)}`],
      ["was until", both(now.end)],
    ]);
    for (const line of ending) say(io, line);
    await confirm(io, "Give it back? This cannot be undone.", options.yes);
  }
  const released = await berth.reservations.release(of);
  await print(io, options, reservationAnswer(released, io.now()));
  sayNext(io, released);
}
