/** `berth book`: the plan, the question, the booking. */
import {
  type BookingShape,
  type Preview,
  type Quote,
  type QuoteRequest,
  type Reservation,
  isBerthError,
} from "@berth/client";
import { confirm, needsTerminal } from "../ask.ts";
import { EXIT, type Status } from "../exit.ts";
import { say } from "../io.ts";
import { sayNext } from "../next-steps.ts";
import { clean } from "../output/clean.ts";
import { type OutputOptions, print, tablesFor } from "../output/print.ts";
import { type Plan, type Way, hasRoom, isPossible, planLines, startOf } from "../plan.ts";
import {
  type Chosen,
  type ShapeOptions,
  type Wish,
  choosePool,
  shapeOf,
  wishOf,
} from "../request.ts";
import { reservationAnswer } from "../reservation-view.ts";
import { ASKS_AGAIN, type Change, retyped } from "../retype.ts";
import { type Session, type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { both, length } from "../time.ts";
import { wholeNumber } from "../words.ts";

export interface BookOptions extends ShapeOptions, OutputOptions, TenantOption {
  readonly lease?: string;
  readonly project?: string;
  readonly key?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** All that a booking is made of. */
interface Draft {
  readonly call: Call;
  readonly options: BookOptions;
  readonly session: Session;
  readonly wish: Wish;
  readonly pool: Chosen;
  readonly ask: QuoteRequest;
}

const NO_ROOM: ReadonlySet<string> = new Set(["NO_CAPACITY", "QUOTA_EXCEEDED"]);

export async function book(call: Call, options: BookOptions): Promise<Status> {
  const { io, args, onServer } = call;
  const wish = await wishOf({ io, count: args[0] ?? "" }, options);
  if (!options.dryRun && !options.yes)
    needsTerminal(io, "--yes books what the plan shows; --dry-run only shows it");
  const session = await openSession(io, options);
  onServer(session.url);
  const draft = await draftOf({ call, options, session, wish });
  const { plan, reading } = await planOf(draft);
  if (options.dryRun) {
    await print(io, options, { data: plan.quote, lines: (tables) => planLines(plan, tables) });
    return isPossible(plan.quote) ? EXIT.ok : EXIT.noRoom;
  }
  // A key may have booked already, and what it booked may be what is in the way now.
  const mayBeBooked = !isPossible(plan.quote) && options.key !== undefined;
  if (!mayBeBooked) {
    show(draft, plan);
    if (!isPossible(plan.quote)) return EXIT.noRoom;
    await confirm(io, `Book it, ${both(startOf(plan.quote.preview))}?`, options.yes);
  }
  const made = await session.berth.reservations.create(draft.ask).safe();
  if (mayBeBooked && !made.ok && NO_ROOM.has(made.error.code)) {
    show(draft, plan);
    return EXIT.noRoom;
  }
  if (!made.ok) return refused(draft, made.error, reading);
  await print(io, options, reservationAnswer(made.data, io.now()));
  sayNext(io, made.data satisfies Reservation);
  return EXIT.ok;
}

async function draftOf(begun: Omit<Draft, "pool" | "ask">): Promise<Draft> {
  const { call, options, session, wish } = begun;
  const pool = await choosePool({ ...call, session }, wish, options.pool);
  const { lease, project, key } = options;
  const ask = {
    ...wish.ask,
    tenantId: await session.tenantId(),
    poolId: pool.poolId,
    ...(lease === undefined ? {} : { leaseSeconds: wholeNumber(lease, "--lease") }),
    ...(project === undefined ? {} : { projectId: project }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  };
  return { ...begun, pool, ask };
}

function show({ call: { io }, options }: Draft, plan: Plan): void {
  for (const line of planLines(plan, tablesFor(io, options, io.stderr))) say(io, line);
}

/** One question to the server, for the request and for what could be asked in its place. */
async function planOf(draft: Draft): Promise<{ readonly plan: Plan; readonly reading: number }> {
  const { call, session, wish, pool, ask } = draft;
  const concessions = concessionsOf(draft);
  const alternatives = concessions.map(({ shape }) => shape);
  const quote = await session.berth.reservations.quote({ ...ask, alternatives });
  const ways = isPossible(quote) ? [] : waysOf(draft, quote, concessions);
  ways.unshift(...(await laterOf(draft, quote)));
  const models = isPossible(quote) ? [] : await modelsOf(draft, quote.preview);
  const isOnOne = (ask.gang?.size ?? 1) === 1;
  const plan = { quote, words: wish.words, pool: pool.name, isOnOne, ways, models };
  return { plan, reading: call.io.now() };
}

/** Of a pool's nodes this many are looked at. */
const LOOKED_MAX = 500;

/** What `--model` could be, where it is what rules nodes out. */
async function modelsOf({ session, options, ask }: Draft, { reason }: Preview): Promise<string[]> {
  const isModel = reason?.blocked.some(({ cause }) => cause === "SELECTOR") ?? false;
  if (options.model === undefined || !isModel) return [];
  const { tenantId, poolId } = ask;
  try {
    const nodes = session.berth.fleet.listNodes({ tenantId, poolId });
    const units = (await nodes.toArray({ limit: LOOKED_MAX })).flatMap((node) => node.units);
    return [
      ...new Set(
        units.flatMap(({ class: name, model }) => (name === "gpu" && model ? [model] : [])),
      ),
    ];
  } catch {
    // A hint that cannot be had hides no plan.
    return [];
  }
}

interface Concession {
  readonly says: string;
  readonly shape: BookingShape;
  /** How the line that was typed changes. */
  readonly change: Change;
  /** Of GPUs, when it is another one. */
  readonly count?: number;
}

/** What people give up first: nearness, number, permanence. */
function concessionsOf({ options, wish: { count } }: Draft): Concession[] {
  const { together, spot, ...rest } = options;
  const found: Concession[] = [];
  const most = Number(options.perNode ?? 8);
  const half = String(Math.ceil(most / 2));
  const isApart = together !== "node" && together !== "nvlink";
  if (isApart && together !== undefined && count > most)
    found.push({
      says: `on nodes of more than one ${together} it fits`,
      shape: shapeOf(count, rest),
      change: { "--together": null },
    });
  if (isApart && most > 1 && count % 2 === 0)
    found.push({
      says: `in parts of at most ${half} it fits`,
      shape: shapeOf(count, { ...options, perNode: half }),
      change: { "--per-node": half },
    });
  if (count % 2 === 0)
    found.push({
      says: `with half as many, ${count / 2}, it fits`,
      shape: shapeOf(count / 2, options),
      change: {},
      count: count / 2,
    });
  if (!spot)
    found.push({ says: "as spot it fits", shape: { spot: true }, change: { "--spot": true } });
  return found;
}

/** The same, as soon as it fits: what the quota leaves then is asked for again, as it may be used up only now. */
async function laterOf({ call, session, ask }: Draft, { preview, quota }: Quote): Promise<Way[]> {
  const { earliestStart: start } = preview;
  if (hasRoom(preview) || start === null) return [];
  const isPaid = quota.ok || (await session.berth.reservations.quote({ ...ask, start })).quota.ok;
  if (!isPaid) return [];
  const line = retyped(call.argv, { ...ASKS_AGAIN, "--start": new Date(start).toISOString() });
  return [{ says: "as soon as it fits", line }];
}

/** Lines that would go through now: ready to copy. */
function waysOf({ call }: Draft, quote: Quote, concessions: readonly Concession[]): Way[] {
  const { argv, args } = call;
  const ways: Way[] = [];
  for (const [at, { says, change, count }] of concessions.entries()) {
    const answer = quote.alternatives[at];
    if (!answer?.preview.fits || !answer.quota.ok) continue;
    const fewer = count === undefined ? undefined : { typed: args[0] ?? "", now: String(count) };
    ways.push({ says, line: retyped(argv, { ...ASKS_AGAIN, ...change }, fewer) });
  }
  return ways;
}

/** What was free when the plan was shown need not be free any more. */
async function refused(draft: Draft, error: Error, reading: number): Promise<Status> {
  const { io } = draft.call;
  if (isBerthError(error, "NO_CAPACITY")) {
    say(
      io,
      `berth: NO_CAPACITY somebody else took it in the ${length(io.now() - reading)} since the plan: nothing was booked`,
    );
    if (error.requestId) say(io, `  request  ${clean(error.requestId)}`);
    say(io, "");
    show(draft, (await planOf(draft)).plan);
    return EXIT.noRoom;
  }
  const isOpen = isBerthError(error, "NETWORK") || isBerthError(error, "TIMEOUT");
  if (isOpen && error.idempotencyKey) {
    say(io, "whether it was booked is not known; this asks again and books at most once:");
    const again = { ...ASKS_AGAIN, "--key": error.idempotencyKey, "--yes": true } as const;
    say(io, `  ${retyped(draft.call.argv, again)}`);
  }
  throw error;
}
