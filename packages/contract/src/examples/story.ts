/**
 * The names that all examples share, so that they tell one story: the lab owns sixteen-GPU racks and offers them
 * to the tenant vision, which books. Ids are made up and well formed; times are of one week in March 2027.
 */
import type { MethodName, Output, RawInput } from "../contract.ts";

export interface Example<M extends MethodName> {
  /** What it shows, in one line. */
  readonly summary: string;
  readonly input: NonNullable<RawInput<M>>;
  readonly output: Output<M>;
}

/** The first is the plainest. */
export type Examples<G extends string> = {
  readonly [M in Extract<MethodName, `${G}.${string}`>]: readonly [Example<M>, ...Example<M>[]];
};

const HOUR = 3_600_000;
/** Monday, 1 March 2027, 09:00 UTC. */
export const NOW = 1_803_891_600_000;
export const hours = (count: number): number => NOW + count * HOUR;

const tail = (last: string) => `06h2m7fp05hjy68yeke0017${last}`;
/** 26 characters: `prefix_06h2m7fp05hjy68yeke0017` and three of one's own. */
const id = <P extends string>(prefix: P, last: string) => `${prefix}_${tail(last)}` as const;

export const LAB = "lab";
export const VISION = "vision";
export const poolId = id("pool", "h1a");
export const siteId = id("site", "s1a");
export const nodeId = id("node", "n01");
export const otherNodeId = id("node", "n02");
export const unitIds = ["g00", "g01", "g02", "g03"].map((last) => id("unit", last));
export const unitId = id("unit", "g00");
export const reservationId = id("rsv", "r0a");
export const gangId = id("rsv", "r0b");
export const unitReservationId = id("ursv", "a0a");
export const maintenanceId = id("mnt", "m0a");
export const keyId = id("key", "k0a");
export const accountId = id("pacct", "c0a");
export const eventId = id("evt", "e0a");
export const CURSOR = "AAAAAAAAAAAAAAAqAAAAAAAAAQ";
export const MODEL = "NVIDIA-H100-80GB-HBM3";
export const gpuUuid = (index: number) => `GPU-0a27e734-b6c4-b3a7-9c8c-4316b0aa4c0${index}`;
