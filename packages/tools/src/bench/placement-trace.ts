/**
 * The traces and the reference policies of `pnpm bench placement`. They lie beside the checkout
 * (`<root>/../shared/bench/trace`), are not part of it, and their scripts run in the same run as the placer.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface TraceNode {
  readonly name: string;
  /** Milli. */
  readonly cpu: number;
  /** MiB. */
  readonly mem: number;
  readonly gpus: number;
  readonly model: string;
}

/** A task: `num` cards, each of `milli` thousandths; a share of one card when `milli` is below 1000. */
export interface Pod {
  readonly cpu: number;
  readonly mem: number;
  readonly num: number;
  readonly milli: number;
  /** Models that will do, joined by `|`; empty: any. */
  readonly spec: string;
}

/** Seconds; `window` is how much later than submit + lead it may start. */
export interface CalendarRequest {
  readonly id: string;
  readonly submit: number;
  readonly lead: number;
  readonly window: number;
  readonly dur: number;
  readonly gpus: number;
  readonly milli: number;
  readonly cpu: number;
}

export interface MigProfileOf {
  readonly name: string;
  /** Memory slices. */
  readonly size: number;
  readonly starts: readonly number[];
}

interface Inflate {
  loadNodes(file: string): TraceNode[];
  loadPods(file: string): Pod[];
  readSequence(file: string, pods: readonly Pod[]): number[];
  run(
    nodes: readonly TraceNode[],
    pods: readonly Pod[],
    sequence: readonly number[],
    policy: string,
    options: { seed: number; slots: number },
  ): { readonly at130: number };
  rng(seed: number): (n: number) => number;
}

interface CalendarScript {
  loadRequests(file: string): CalendarRequest[];
  resalt(requests: readonly CalendarRequest[], salt: number): CalendarRequest[];
  simulate(
    requests: readonly CalendarRequest[],
    nodes: readonly { gpus: number; cpu: number }[],
    policy: string,
    options: { seed: number },
  ): { readonly gpuTimePct: number };
}

interface MigScript {
  readonly PROFILES: readonly MigProfileOf[];
  readonly MIXES: Readonly<Record<string, readonly number[]>>;
  runMig(
    policy: string,
    mix: string,
    options: { gpus: number; seed: number; load: number; n: number },
  ): { readonly slice: number };
}

export interface Trace {
  /** A file of the data, by its path there. */
  file(...path: readonly string[]): string;
  readonly inflate: Inflate;
  readonly calendar: CalendarScript;
  readonly mig: MigScript;
}

/** Null, and says where it looked, when the traces are not there. */
export async function loadTrace(): Promise<Trace | null> {
  const root = join(import.meta.dirname, "../../../../../shared/bench/trace");
  if (!existsSync(root)) {
    console.error("NOTHING WAS MEASURED: the traces and reference policies are not there.");
    console.error(`bench placement reads them from ${root}, beside the checkout.`);
    return null;
  }
  const script = (name: string): Promise<unknown> => import(join(root, "scripts", name));
  return {
    file: (...path) => join(root, "data", ...path),
    inflate: (await script("inflate.mjs")) as Inflate,
    calendar: (await script("calendar.mjs")) as CalendarScript,
    mig: (await script("mig.mjs")) as MigScript,
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
