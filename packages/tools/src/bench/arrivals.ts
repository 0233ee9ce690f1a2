/** Calls that come by the clock, whether or not the ones before were answered: a stall shows as latency. */
import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "./figure.ts";
import { type Arrival, type Kind, type Setting, arrive, draw } from "./mix.ts";

export interface Heard {
  /** Milliseconds from the instant at which each was due, of those that were not turned away. */
  readonly took: number[];
  /** Answers by code; `OK`, and `LOST` where a connection broke. */
  readonly codes: Map<string, number>;
  readonly seconds: number;
  /** Refusals for want of time or room in the queue that do not say when to come again. */
  readonly withoutRetryAfter: number;
  readonly creates: number;
}

/** Answers of a healthy system under this load; the others are faults, or say that it is full. */
const RIGHT = new Set(["OK", "NO_CAPACITY", "QUOTA_EXCEEDED"]);
export const FULL: ReadonlySet<string> = new Set(["RATE_LIMITED", "UNAVAILABLE"]);

export function unexpected(codes: ReadonlyMap<string, number>): number {
  return [...codes].reduce((sum, [code, count]) => sum + (RIGHT.has(code) ? 0 : count), 0);
}

class Ear {
  readonly took: number[] = [];
  readonly codes = new Map<string, number>();
  withoutRetryAfter = 0;
  creates = 0;

  hear(due: number, arrived: Arrival | null): void {
    const codes = arrived?.answers.map((a) =>
      a.status === 200 ? "OK" : String(a.body["code"]),
    ) ?? ["LOST"];
    for (const code of codes) this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (!codes.some((code) => FULL.has(code) || code === "LOST")) {
      this.took.push(performance.now() - due);
      if (arrived?.kind === "create") this.creates += 1;
    }
    for (const [i, answer] of (arrived?.answers ?? []).entries())
      if (FULL.has(codes[i] ?? "") && answer.retryAfter === null) this.withoutRetryAfter += 1;
  }
}

/** So many arrivals a second, evenly, for so long; resolves when all of them were answered. */
export async function openLoop(
  setting: Setting,
  plan: { readonly rate: number; readonly seconds: number; readonly kind?: Kind },
): Promise<Heard> {
  const ear = new Ear();
  const started = performance.now();
  const all = Math.floor(plan.rate * plan.seconds);
  const flying = new Set<Promise<void>>();
  for (let n = 0; n < all; n += 1) {
    const due = started + (n / plan.rate) * 1_000;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    const one = arrive(setting, plan.kind ?? draw(setting.random))
      .then((arrived) => ear.hear(due, arrived))
      .catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith("one key made")) throw error;
        ear.hear(due, null);
      })
      .finally(() => flying.delete(one));
    flying.add(one);
  }
  const seconds = (performance.now() - started) / 1_000;
  await Promise.all(flying);
  return heard(ear, seconds);
}

/** As fast as the answers come, from so many callers: what the system can take. */
export async function closedLoop(
  setting: Setting,
  plan: { readonly callers: number; readonly seconds: number },
): Promise<Heard> {
  const ear = new Ear();
  const started = performance.now();
  const until = started + plan.seconds * 1_000;
  await Promise.all(
    Array.from({ length: plan.callers }, async () => {
      while (performance.now() < until) {
        const due = performance.now();
        ear.hear(due, await arrive(setting, draw(setting.random)));
      }
    }),
  );
  return heard(ear, (performance.now() - started) / 1_000);
}

function heard({ took, codes, withoutRetryAfter, creates }: Ear, seconds: number): Heard {
  return { took, codes, withoutRetryAfter, creates, seconds };
}

/** One line for people. */
export function inWords({ took, codes, seconds, creates }: Heard): string {
  const ms = (share: number): string => quantile(took, share).toFixed(1);
  const table = [...codes].map(([code, count]) => `${code} ${count}`).join(", ");
  return (
    `${(took.length / seconds).toFixed(0)} arrivals/s answered, ${(creates / seconds).toFixed(0)} creates/s, ` +
    `p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms; ${table}`
  );
}
