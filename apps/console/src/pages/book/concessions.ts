/**
 * What could be given up so that it fits: asked in the same quote as the request, each kind from the smallest step to
 * the largest, so that the first that fits is the smallest. Pure.
 */
import type { BookingRequest, BookingShape, QuotedShape } from "@berth/client";
import { durationInput, durationText, parseDuration } from "../../format/duration.ts";
import { askOf, countedText } from "./form.ts";
import type { BookForm, PoolFacts } from "./form.ts";

export interface Concession {
  readonly kind: "spot" | "apart" | "shorter" | "fewer";
  /** What it is instead, as a button says it. */
  readonly words: string;
  /** The change of the form. */
  readonly change: Partial<BookForm>;
  readonly shape: BookingShape;
}

/** What somebody asks for, and where. */
export interface Wish {
  readonly form: BookForm;
  readonly tenantId: string;
  readonly pool: PoolFacts;
}

/** One quote answers 16 shapes, and the first is the request itself. */
const MOST = 15;
/** Parts of the length and of the count that are tried. */
const SHARES = [0.75, 0.5, 0.25, 0.125];
export const HOUR_MS = 3_600_000;

/** Every concession worth asking for, by kind, the smallest of each kind first. */
export function concessionsOf(wish: Wish): Concession[] {
  const { form } = wish;
  const tries = [...spot(form), ...apart(form), ...shorter(form), ...fewer(form)];
  return tries.flatMap((each) => concessionOf(wish, each)).slice(0, MOST);
}

/** One, or none where the form with the change cannot be asked for. */
export function concessionOf({ form, tenantId, pool }: Wish, tried: Try): Concession[] {
  const ask = askOf({ ...form, ...tried.change }, tenantId, pool);
  return ask.ok ? [{ ...tried, shape: shapeOf(ask.request) }] : [];
}

/** A request as something that is laid over another one: what it leaves open is said. */
export function shapeOf(request: BookingRequest): BookingShape {
  const { devices, gang, topology, start, duration, binding, node, spot: isSpot } = request;
  return {
    devices,
    topology: topology ?? "any",
    duration,
    ...(gang === undefined ? {} : { gang }),
    ...(start === undefined ? {} : { start }),
    ...(binding === undefined ? {} : { binding }),
    ...(node === undefined ? {} : { node }),
    ...(isSpot === undefined ? {} : { spot: isSpot }),
  };
}

/** GPUs, or what else is counted, of one member of the request. */
export function gpusPerMember({ form, tenantId, pool }: Wish): number {
  const ask = askOf(form, tenantId, pool);
  return ask.ok ? (ask.request.devices[0]?.count ?? 1) : 1;
}

/** Of each kind the smallest that fits within the quota. */
export function fitting(
  concessions: readonly Concession[],
  answers: readonly QuotedShape[],
): Concession[] {
  const found = new Map<Concession["kind"], Concession>();
  for (const [index, concession] of concessions.entries()) {
    const answer = answers[index];
    if (answer?.preview.fits && answer.quota.ok && !found.has(concession.kind))
      found.set(concession.kind, concession);
  }
  return [...found.values()];
}

export type Try = Omit<Concession, "shape">;

function spot(form: BookForm): Try[] {
  if (form.spot) return [];
  return [{ kind: "spot", words: "As spot, which may have to make way", change: { spot: true } }];
}

function apart({ kind, together }: BookForm): Try[] {
  const order = { nvlink: ["node", "any"], node: ["any"], rack: ["any"], zone: ["any"], any: [] };
  if (kind === "gpu.mig" || kind === "gpu.slot") return [];
  return (order[together] as ("node" | "any")[]).map((next) => ({
    kind: "apart",
    words: next === "any" ? "On any nodes" : "On one node, over NVLink domains",
    change: { together: next },
  }));
}

function shorter({ duration }: BookForm): Try[] {
  const ms = parseDuration(duration);
  if (ms === null || ms <= HOUR_MS) return [];
  const lengths = SHARES.map((share) => Math.max(HOUR_MS, roundTo(ms * share)));
  return [...new Set(lengths)].map((length) => shorterBy(duration, length));
}

/** @param ms how long instead */
export function shorterBy(duration: string, ms: number): Try {
  return {
    kind: "shorter",
    words: `For ${durationText(ms)} instead of ${durationText(parseDuration(duration) ?? 0)}`,
    change: { duration: durationInput(ms) },
  };
}

/** To hours, and over two days to days: lengths that people would write. */
function roundTo(ms: number): number {
  const step = ms > 48 * HOUR_MS ? 24 * HOUR_MS : HOUR_MS;
  return Math.round(ms / step) * step;
}

function fewer(form: BookForm): Try[] {
  const count = Number(form.count);
  const counts = SHARES.map((share) => Math.floor(count * share)).filter((each) => each >= 1);
  return [...new Set(counts)].map((next) => fewerBy(form, next));
}

/** @param next how many instead */
export function fewerBy(form: BookForm, next: number): Try {
  const change = { count: String(next) };
  const words = `${countedText({ ...form, ...change })} instead of ${form.count}`;
  return { kind: "fewer", words, change };
}
