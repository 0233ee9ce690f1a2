/**
 * Writes of several pools share a statement, and with it a flush of the disk. Each is judged by itself: one that
 * has to wait for another server, or whose key is taken, is written alone after it and keeps nobody else back.
 */
import { gathering } from "../gathering.ts";
import { batchJson } from "./batch-json.ts";
import type { ApplyOutcome, GateWrite } from "./types.ts";

export interface TimedWrite extends GateWrite {
  /** The pool's clock at which the batch was planned. */
  readonly now: number;
}

/** What the gate says of one write of several. */
export type TogetherOutcome = ApplyOutcome | { readonly ok: false; readonly kind: "alone" };

export interface Writing {
  /** One gate, whatever its batch holds. */
  alone(write: TimedWrite): Promise<ApplyOutcome>;
  /** Several gates, each once, by what `togetherJson` made; answers in their order. */
  together(writes: object): Promise<readonly TogetherOutcome[]>;
}

/** Batches in one statement: its rows are to be small beside what one pool's largest batch is. */
const MOST = 32;
/** The sections that bookings need. A batch with any other is written alone. */
const SECTIONS = [
  "keys",
  "drops",
  "cuts",
  "extends",
  "changed",
  "created",
  "bookings",
  "rollup",
  "quotaUsed",
  "events",
  "audit",
] as const;
const OWN = ["id", "nextDueAt", "graceTo"] as const;
const SHARED: ReadonlySet<string> = new Set([...SECTIONS, ...OWN]);
/** The number at which a gate clears away what is old, in its own statement. */
const CLEARS_EVERY = 256;

type Sections = Readonly<Record<string, unknown>>;
interface Prepared {
  readonly write: TimedWrite;
  readonly sections: Sections;
}

const ALONE = { ok: false, kind: "alone" } as const;

export function writingTogether(writing: Writing): (write: TimedWrite) => Promise<ApplyOutcome> {
  const ask = gathering<Prepared, TogetherOutcome>(
    async (prepared) => {
      const firsts = firstOfEachGate(prepared);
      const [only] = firsts;
      const outcomes =
        only && firsts.length === 1
          ? [await writing.alone(only.write)]
          : await writing.together(togetherJson(firsts));
      return prepared.map((one) => outcomes[firsts.indexOf(one)] ?? ALONE);
    },
    { most: MOST },
  );
  return async (write) => {
    const sections = batchJson(write.gateId, write.batch) as Sections;
    if (!isShared(write, sections)) return writing.alone(write);
    const outcome = await ask({ write, sections });
    return !outcome.ok && outcome.kind === "alone" ? writing.alone(write) : outcome;
  };
}

/** Whether it may go with others: a pool's bookings, and nothing that is cleared away with them. */
function isShared({ gateId, expectedSeq }: GateWrite, sections: Sections): boolean {
  return (
    gateId.startsWith("pool_") &&
    (expectedSeq + 1) % CLEARS_EVERY !== 0 &&
    Object.keys(sections).every((name) => SHARED.has(name))
  );
}

/** A gate's second write comes after its first. */
function firstOfEachGate(prepared: readonly Prepared[]): Prepared[] {
  const gates = new Set<string>();
  return prepared.filter(({ write: { gateId } }) => !gates.has(gateId) && gates.add(gateId));
}

/** The sections of all batches one after the other, each row with its batch's place, from 1. */
function togetherJson(prepared: readonly Prepared[]): object {
  const all: Record<string, object[]> = {
    writes: prepared.map(({ write: { gateId, expectedSeq, now }, sections }, at) => ({
      place: at + 1,
      gate: gateId,
      expected: expectedSeq,
      now,
      batch: sections["id"],
      due: sections["nextDueAt"],
      grace: sections["graceTo"],
    })),
  };
  for (const name of SECTIONS) {
    const rows = prepared.flatMap(({ sections }, at) =>
      ((sections[name] ?? []) as readonly (object | string)[]).map((row) =>
        typeof row === "string" ? { place: at + 1, id: row } : { ...row, place: at + 1 },
      ),
    );
    if (rows.length > 0) all[name] = rows;
  }
  return all;
}
