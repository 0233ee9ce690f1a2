/** A process of its own for `placer.ts`: loads the pool of that size and prints its resident memory in MB (10^6 bytes). */
import { PoolState } from "@berth/domain";
import { type PoolSize, syntheticPool } from "./placer-pool.ts";

const state = PoolState.load(syntheticPool(JSON.parse(process.argv[2] ?? "") as PoolSize));
globalThis.gc?.();
globalThis.gc?.();
const megabytes = process.memoryUsage.rss() / 1e6;
// Held until it was measured.
console.log(state.nodeCount > 0 ? Math.round(megabytes) : Number.NaN);
