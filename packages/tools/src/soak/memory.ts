/** What the servers' memory does over a run. */
import { setTimeout as delay } from "node:timers/promises";
import type { System } from "../bench/servers.ts";
import { quantile } from "../bench/figure.ts";

const EVERY_MS = 5_000;
/** Caches fill and code is compiled; from then on memory may not grow. */
const WARM_UP_MS = 300_000;
/** What is said of an instant is the median of so long a stretch: garbage comes and goes. */
const STRETCH_MS = 60_000;
const GROWTH_MAX = 1.1;
const MIB = 1_048_576;

interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly heap: number;
}

export interface Memory {
  /** @returns what grew, in words */
  end(): Promise<string[]>;
}

/** Of servers that are not restarted meanwhile. */
export function watchMemory(system: System, print: (line: string) => void): Memory {
  const started = performance.now();
  const samples: Sample[][] = system.urls.map(() => []);
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all(samples.map((list, server) => sample(system, server, { list, started })));
      await delay(EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async end() {
      stop.abort();
      await running;
      return samples.flatMap((list, server) => verdict(list, `server ${server + 1}`, print));
    },
  };
}

async function sample(
  system: System,
  server: number,
  { list, started }: { readonly list: Sample[]; readonly started: number },
): Promise<void> {
  const values = await system.metrics(server).catch(() => null);
  if (!values) return;
  list.push({
    at: performance.now() - started,
    rss: (values.get("process_resident_memory_bytes") ?? 0) / MIB,
    heap: (values.get("nodejs_heap_size_used_bytes") ?? 0) / MIB,
  });
}

function verdict(list: readonly Sample[], name: string, print: (line: string) => void): string[] {
  const length = list.at(-1)?.at ?? 0;
  const around = (from: number, to: number): Omit<Sample, "at"> => {
    const within = list.filter(({ at }) => at >= from && at <= to);
    const median = (of: "rss" | "heap"): number =>
      quantile(
        within.map((one) => one[of]),
        0.5,
      );
    return { rss: median("rss"), heap: median("heap") };
  };
  const text = ({ rss, heap }: Omit<Sample, "at">): string =>
    `${rss.toFixed(0)} MiB resident, ${heap.toFixed(0)} of heap`;
  const minute = around(Math.min(STRETCH_MS / 2, length / 2), STRETCH_MS * 1.5);
  const end = around(length - STRETCH_MS, length);
  const long = length >= 3 * WARM_UP_MS;
  const warm = around(WARM_UP_MS, WARM_UP_MS + STRETCH_MS);
  const between = long ? `; after ${WARM_UP_MS / 60_000} min ${text(warm)}` : "";
  print(`memory of ${name}: after 1 min ${text(minute)}${between}; in the end ${text(end)}`);
  if (!long || end.rss <= warm.rss * GROWTH_MAX) return [];
  return [
    `${name} grew from ${warm.rss.toFixed(0)} to ${end.rss.toFixed(0)} MiB since its warm-up`,
  ];
}
