/** From what was typed to a request: the shape, the window and the pool. */
import { type Pool, type Preview, type QuoteRequest, type Together, gpus } from "@berth/client";
import { askOneOf } from "./ask.ts";
import { EXIT, Quit, usage } from "./exit.ts";
import { type Io, canAsk } from "./io.ts";
import { clean } from "./output/clean.ts";
import { hasRoom } from "./plan.ts";
import { retyped } from "./retype.ts";
import type { Session } from "./session.ts";
import { both, parseTime } from "./time.ts";
import { listed, poolName, poolOf, wholeNumber } from "./words.ts";

export interface ShapeOptions {
  readonly together?: string;
  readonly perNode?: string;
  readonly model?: string;
  readonly pool?: string;
  readonly start?: string;
  readonly for?: string;
  readonly spot?: boolean;
}

/** A request before anybody was asked: without its tenant and its pool. */
export interface Wish {
  readonly ask: Omit<QuoteRequest, "tenantId" | "poolId">;
  /** `2 × 8 GPUs on nodes of one rack`. */
  readonly words: string;
  readonly count: number;
}

/** @throws Quit that names the flag or the argument */
export async function wishOf(
  { io, count: typed }: { readonly io: Io; readonly count: string },
  options: ShapeOptions,
): Promise<Wish> {
  const count = wholeNumber(typed, "the number of GPUs");
  if (options.for === undefined)
    throw usage("--for says how long: --for 7d, --for 4h, --for 2h30m");
  if (/^\d+$/.test(options.for))
    throw usage(
      `--for ${options.for} has no unit: --for ${options.for}m, ${options.for}h or ${options.for}d`,
    );
  if (/^\d+[a-z].*\d$/i.test(options.for))
    throw usage(
      `--for ${options.for} ends without a unit: --for ${options.for}m, if it is minutes`,
    );
  const shape = shapeOf(count, options);
  const start =
    options.start === undefined ? undefined : await parseTime(options.start, "--start", io.now());
  const ask = {
    ...shape,
    duration: options.for,
    ...(start === undefined ? {} : { start }),
    ...(options.spot ? { spot: true } : {}),
  };
  return { ask, words: shape.words, count };
}

export function shapeOf(
  count: number,
  { together, perNode, model }: ShapeOptions,
): ReturnType<typeof gpus> {
  try {
    return gpus(count, {
      ...(together === undefined ? {} : { together: together as Together }),
      ...(perNode === undefined ? {} : { perNode: wholeNumber(perNode, "--per-node") }),
      ...(model === undefined ? {} : { selector: { model } }),
    });
  } catch (error) {
    if (error instanceof RangeError) throw usage(error.message);
    throw error;
  }
}

export interface Chosen {
  readonly poolId: string;
  /** For people. */
  readonly name: string;
}

/** Of more pools than this none is tried: they are listed. */
const TRIED_MAX = 16;

/** What is asked of whom, and how it was typed. */
interface Asking {
  readonly io: Io;
  readonly session: Session;
  readonly argv: readonly string[];
}

/**
 * The pool that was named, or the one that the wish fits in; of several the person at the terminal chooses.
 * @throws Quit that lists them
 */
export async function choosePool(asking: Asking, wish: Wish, named?: string): Promise<Chosen> {
  const { session } = asking;
  if (named !== undefined) {
    const poolId = await poolOf(session, named);
    return { poolId, name: named };
  }
  const tenantId = await session.tenantId();
  const { pools } = await session.berth.pools.list({ tenantId });
  const open = pools.filter(({ archived }) => !archived);
  const [only] = open;
  if (only && open.length === 1) return chosen(only);
  if (open.length === 0 || open.length > TRIED_MAX)
    throw usage("--pool says where, by id or label; there are", ...listed(open));
  const tried = await Promise.all(
    open.map(async (pool): Promise<Tried> => {
      const ask = { ...wish.ask, tenantId, poolId: pool.id };
      const asked = await session.berth.capacity.preview(ask).safe();
      // What is wrong with the request itself is wrong in every pool.
      if (!asked.ok && asked.error.code === "INVALID_INPUT" && open[0] === pool) throw asked.error;
      return { pool, preview: asked.data };
    }),
  );
  const free = tried.flatMap(({ pool, preview }) => (preview?.fits ? [pool] : []));
  const freed = tried.flatMap(({ pool, preview }) => (preview && hasRoom(preview) ? [pool] : []));
  // Nobody has to make way where there is a pool that it fits in as it is.
  const fitting = free.length > 0 ? free : freed;
  const [first] = fitting;
  if (first) return fitting.length === 1 ? chosen(first) : oneOf(asking, fitting, pools);
  throw new Quit(
    EXIT.noRoom,
    `${wish.words}: it fits in none of the ${tried.length} pools`,
    ...tried.map(whyNot),
  );
}

const chosen = (pool: Pick<Pool, "id" | "label">): Chosen => ({
  poolId: pool.id,
  name: poolName(pool),
});

/** Asks; without a terminal there is a line to copy for each. @throws Quit */
async function oneOf(
  { io, argv }: Asking,
  fitting: readonly Pool[],
  all: readonly Pool[],
): Promise<Chosen> {
  if (!canAsk(io)) {
    const lines = fitting.map((pool) => `  ${retyped(argv, { "--pool": nameAmong(all, pool) })}`);
    throw usage("it fits in several pools: --pool says which, as one of these", ...lines);
  }
  const poolId = await askOneOf(
    io,
    "It fits in several pools: in which?",
    fitting.map((pool) => ({
      value: pool.id,
      label: clean(poolName(pool)),
      hint: clean(pool.gpuModel ?? ""),
    })),
  );
  return chosen(fitting.find(({ id }) => id === poolId) ?? { id: poolId, label: null });
}

/** Its label, where `--pool` finds it by that and a terminal shows it as it is; else its id. */
function nameAmong(pools: readonly Pool[], pool: Pool): string {
  const name = poolName(pool);
  const isOnly = pools.filter(({ label }) => label === name).length === 1;
  return isOnly && clean(name) === name ? name : pool.id;
}

interface Tried {
  readonly pool: Pool;
  readonly preview: {
    readonly fits: boolean;
    readonly reason: { readonly message: string } | null;
    readonly earliestStart: number | null;
    readonly preemptible: Preview["preemptible"];
  } | null;
}

function whyNot({ pool, preview }: Tried): string {
  const why = preview?.reason ? clean(preview.reason.message) : "it cannot be asked";
  const when = preview?.earliestStart ? `; earliest ${both(preview.earliestStart)}` : "";
  return `  ${clean(poolName(pool))}  ${why}${when}  ${pool.id}`;
}
