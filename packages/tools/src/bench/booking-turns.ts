/** Bookings beside what the same PostgreSQL does by itself, in turns. */
import { openDatabase } from "@berth/db";
import { type Figure, quantile } from "./figure.ts";
import {
  HAND_WRITTEN_SCHEMA,
  type PgbenchOptions,
  findPgbench,
  handWritten,
  pgbench,
  prepareTpcb,
} from "./pgbench.ts";
import type { System } from "./servers.ts";

type Pools = 1 | 50;

export interface Turns {
  readonly system: System;
  readonly seconds: number;
  /** Times that the system and the yardsticks take turns. */
  readonly rounds: number;
  /** What is measured on so many pools, in words. */
  readonly cells: Readonly<Record<Pools, string>>;
  /** Mutations a second there. */
  rate(pools: Pools): Promise<number>;
  say(line: string): void;
}

/** What must hold against PostgreSQL itself: system and yardstick take turns, so that a noisy minute is both of theirs. */
export async function againstPostgres(turns: Turns): Promise<Figure[]> {
  const { cells, rate, rounds, say } = turns;
  const program = findPgbench(say);
  if (program === null) {
    say(
      "\nNO PGBENCH: it is not here and could not be installed. Every comparison with PostgreSQL itself is left out.\n",
    );
    return [];
  }
  const tpcb = await targetOf(turns, program, "tpcb");
  prepareTpcb(tpcb);
  const byHand = async (pools: Pools, round: number): Promise<number> => {
    const target = await targetOf(turns, program, `by_hand_${pools}_${round}`);
    const database = openDatabase(target.url, { connections: 1, writers: 1 });
    await database.sql.unsafe(HAND_WRITTEN_SCHEMA).simple();
    await database.close();
    return handWritten(target, { clients: 8, pools });
  };
  const seen: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const rates = {
      tpcb8: pgbench(tpcb, { clients: 8 }),
      fifty: await rate(50),
      tpcb32: pgbench(tpcb, { clients: 32 }),
      byHand: await byHand(1, round),
      hot: await rate(1),
      byHand50: await byHand(50, round),
    };
    seen.push(rates);
    const words = Object.entries(rates).map(([id, each]) => `${id} ${each.toFixed(0)}/s`);
    say(`turn ${round}: ${words.join(", ")}`);
  }
  return [
    ...rateFigures(seen),
    ...against(seen, {
      id: "fifty-pools-against-tpcb",
      cell: cells[50],
      ours: ({ fifty }) => fifty,
      theirs: ({ tpcb8, tpcb32 }) => Math.max(tpcb8, tpcb32),
      yardstick: "pgbench.tpcb, the better",
    }),
    ...against(seen, {
      id: "hot-pool-against-by-hand",
      cell: cells[1],
      ours: ({ hot }) => hot,
      theirs: (round) => round.byHand,
      yardstick: "pgbench.by-hand.pools-1",
    }),
  ];
}

async function targetOf(
  { seconds, system }: Turns,
  program: string,
  name: string,
): Promise<PgbenchOptions> {
  return { program, url: await system.makeDatabase(name), seconds };
}

/** Transactions or mutations a second. */
type Round = Readonly<Record<"tpcb8" | "tpcb32" | "fifty" | "byHand" | "byHand50" | "hot", number>>;

const NAMES: Readonly<Record<keyof Round, string>> = {
  tpcb8: "pgbench.tpcb.clients-8",
  tpcb32: "pgbench.tpcb.clients-32",
  byHand: "pgbench.by-hand.pools-1",
  byHand50: "pgbench.by-hand.pools-50",
  fifty: "turns.pools-50",
  hot: "turns.pools-1",
};

function rateFigures(seen: readonly Round[]): Figure[] {
  return Object.entries(NAMES).map(([key, id]) => {
    const value = quantile(
      seen.map((round) => round[key as keyof Round]),
      0.5,
    );
    return { id, value, unit: "transactions/s", direction: "higher" };
  });
}

interface Comparison {
  readonly id: string;
  readonly cell: string;
  readonly yardstick: string;
  ours(round: Round): number;
  theirs(round: Round): number;
}

/** The ratio of each turn: the median must hold, the others say how much it varies. */
function against(seen: readonly Round[], by: Comparison): Figure[] {
  const ratios = seen.map((round) => by.ours(round) / by.theirs(round));
  const ratio = quantile(ratios, 0.5);
  const value = quantile(
    seen.map((round) => by.theirs(round)),
    0.5,
  );
  const yardstick = { id: by.yardstick, value, unit: "transactions/s" };
  const shown = { unit: `× (${by.cell})`, direction: "higher" } as const;
  return [
    { id: by.id, value: ratio, ...shown, must: 1, aim: 2, yardstick, ratio },
    { id: `${by.id}.least`, value: Math.min(...ratios), ...shown },
    { id: `${by.id}.most`, value: Math.max(...ratios), ...shown },
  ];
}
