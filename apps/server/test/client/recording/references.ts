/** Ids, keys, cursors and times differ from run to run: in what is written down they are references. */
import type { Reference } from "./recording.ts";

/** Of a recording's begin, milliseconds. */
interface Time {
  readonly $ms: number;
}
interface IsoTime {
  readonly $iso: number;
}

/** Shorter texts are words, not what a server makes. */
const MADE_MIN = 20;
/** September 2020: no count of ours comes near. */
const TIME_MIN = 1.6e12;
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Learns from answers which texts the server made, and says where they came from. */
export class References {
  readonly #startedAt = Date.now();
  readonly #sent = new Set<string>();
  readonly #made = new Map<string, Reference>();

  /** Who made this text; undefined when no answer had it. */
  of(text: string): Reference | undefined {
    return this.#made.get(text);
  }

  /** A body as it is written down. */
  write(body: unknown): unknown {
    return mapped(body, (leaf) => {
      if (typeof leaf === "number") return leaf > TIME_MIN ? { $ms: leaf - this.#startedAt } : leaf;
      if (typeof leaf !== "string") return leaf;
      if (ISO.test(leaf)) return { $iso: Date.parse(leaf) - this.#startedAt };
      const made = this.#made.get(leaf);
      if (!made) this.#sent.add(leaf);
      return made ?? leaf;
    });
  }

  learn(body: unknown, call: number, at: readonly (string | number)[] = []): void {
    if (typeof body === "string") {
      if (body.length >= MADE_MIN && !this.#sent.has(body) && !this.#made.has(body))
        this.#made.set(body, { $answer: call, at });
    } else if (Array.isArray(body))
      for (const [index, each] of body.entries()) this.learn(each, call, [...at, index]);
    else if (typeof body === "object" && body !== null)
      for (const [name, each] of Object.entries(body)) this.learn(each, call, [...at, name]);
  }
}

/** A body as it is sent again: `answers` are those of this run. */
export function resolved(body: unknown, answers: readonly unknown[], startedAt: number): unknown {
  return mapped(body, (leaf) => {
    if (typeof leaf !== "object" || leaf === null) return leaf;
    if ("$ms" in leaf) return startedAt + (leaf as Time).$ms;
    if ("$iso" in leaf) return new Date(startedAt + (leaf as IsoTime).$iso).toISOString();
    return "$answer" in leaf ? found(leaf as Reference, answers) : leaf;
  });
}

export function found({ $answer, at }: Reference, answers: readonly unknown[]): string {
  let value = answers[$answer];
  for (const step of at) value = (value as Record<string | number, unknown> | undefined)?.[step];
  if (typeof value === "string") return value;
  throw new Error(`call ${$answer} was answered a text at ${at.join(".")}, and is no more`);
}

/** Leaves, and what stands for one, through the function. */
function mapped(value: unknown, leaf: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, leaf));
  if (typeof value !== "object" || value === null) return leaf(value);
  const names = Object.keys(value);
  if (names.some((name) => name.startsWith("$"))) return leaf(value);
  const fields = Object.entries(value).map(([name, each]) => [name, mapped(each, leaf)]);
  return Object.fromEntries(fields) as unknown;
}
