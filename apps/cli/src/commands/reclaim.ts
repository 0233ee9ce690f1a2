/** `berth reclaim`: the dry run, then exactly what it showed, or nothing. */
import { type Berth, type UnitReservation, isBerthError } from "@berth/client";
import { confirmCount, needsTerminal } from "../ask.ts";
import { EXIT, Quit, type Status, usage } from "../exit.ts";
import { say } from "../io.ts";
import { type Answer, type OutputOptions, print } from "../output/print.ts";
import { facts } from "../reservation-view.ts";
import { openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { wholeNumber } from "../words.ts";

export interface ReclaimOptions extends OutputOptions {
  readonly units?: string;
  readonly dryRun?: boolean;
  readonly expect?: string;
}

export async function reclaim(
  { io, args, onServer }: Call,
  options: ReclaimOptions,
): Promise<Status> {
  const expected = options.expect === undefined ? null : wholeNumber(options.expect, "--expect");
  const isAsked = expected === null && !options.dryRun;
  if (isAsked)
    needsTerminal(
      io,
      "--expect N goes on when exactly N would end; --dry-run shows how many that is",
    );
  const { berth, url } = await openSession(io);
  onServer(url);
  const [reservationId = ""] = args;
  const { nodeId } = await find(berth, reservationId);
  const unitIds = options.units?.split(",").map((id) => id.trim());
  const of = { nodeId, reservationId, ...(unitIds ? { unitIds } : {}) };
  const plan = await berth.unitReservations.reclaim({ ...of, dryRun: true });
  const ends = plan.wouldTerminate ?? [];
  if (options.dryRun) {
    await print(io, options, answer(plan, { ends, stays: plan.wouldSkip, would: "would " }));
    if (expected === null || expected === ends.length) return EXIT.ok;
    throw differs(expected, ends);
  }
  for (const line of linesOf({ ends, stays: plan.wouldSkip, would: "would " })) say(io, line);
  if (expected !== null && expected !== ends.length) throw differs(expected, ends);
  if (isAsked) await confirmCount(io, question(ends.length), ends.length);
  const { error, data, ok } = await berth.unitReservations.reclaim({ ...of, expect: ends }).safe();
  if (!ok)
    throw isBerthError(error, "CONFLICT") && error.details?.kind === "plan"
      ? moved(error.details.plan)
      : error;
  await print(io, options, answer(data, { ends: data.terminated, stays: data.skipped, would: "" }));
  return EXIT.ok;
}

const question = (count: number) =>
  `Ends ${count} spot ${count === 1 ? "booking" : "bookings"} now, without notice. Type ${count} to go on`;

/** Its id alone does not name it: the API wants its node, too. */
async function find(berth: Berth, id: string): Promise<UnitReservation> {
  if (!/^ursv_[0-9a-z]+$/.test(id))
    throw usage(`${JSON.stringify(id)} is no unit reservation: its id begins with ursv_`);
  for await (const found of berth.unitReservations.list({ limit: 200 }))
    if (found.id === id) return found;
  throw new Quit(EXIT.notYours, `there is no unit reservation ${id}, or this key may not see it`);
}

interface Effect {
  readonly ends: readonly string[] | undefined;
  readonly stays: readonly string[] | undefined;
  /** `would ` in a dry run. */
  readonly would: string;
}

function linesOf({ ends = [], stays = [], would }: Effect): string[] {
  const none = would === "" ? "none" : "nobody";
  return facts([
    [`${would}end`, ends.length === 0 ? none : `${ends.length} on the spot market`],
    ...ends.map((id) => ["", id] as const),
    [`${would}stay`, stays.length === 0 ? none : `${stays.length} not spot`],
    ...stays.map((id) => ["", id] as const),
  ]);
}

function answer(data: UnitReservation, effect: Effect): Answer {
  return { data, lines: () => linesOf(effect) };
}

function differs(expected: number, ends: readonly string[]): Quit {
  return new Quit(
    EXIT.noRoom,
    `${ends.length} would end, not the ${expected} of --expect: nothing was done`,
    ...ends.map((id) => `  ${id}`),
  );
}

function moved(plan: unknown): Quit {
  const { wouldTerminate = [] } = (plan ?? {}) as Pick<UnitReservation, "wouldTerminate">;
  return new Quit(
    EXIT.noRoom,
    "what would end has changed since it was shown: nothing was done",
    `  now ${wouldTerminate.length} would end${wouldTerminate.length ? ":" : ""}`,
    ...wouldTerminate.map((id) => `  ${id}`),
    "  look at it again with berth reclaim",
  );
}
