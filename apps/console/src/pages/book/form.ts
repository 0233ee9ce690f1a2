/** The booking form without a screen: what is typed, what is wrong with it, and the request that it makes. Pure. */
import { gpus, nodes } from "@berth/client";
import type { BookingRequest, BookingShape, Pool } from "@berth/client";
import { LENGTH_HINT, lengthFault, parseDuration } from "../../format/duration.ts";
import { nounText, resourceCount } from "../../format/units.ts";
import type { BookSearch, TogetherChoice } from "./search.ts";

/** What is booked: whole GPUs, parts of one, or whole nodes. */
export type Kind = "gpu" | "gpu.mig" | "gpu.slot" | "node";

export interface BookForm {
  readonly kind: Kind;
  /** As it is typed. */
  readonly count: string;
  readonly together: TogetherChoice;
  /** Null = now. */
  readonly start: number | null;
  /** Why `start` is not what the person means, and nothing can be asked; null: it is. */
  readonly startFault: string | null;
  /** The start of the link, where that is what is wrong; else null. */
  readonly startTyped: string | null;
  /** As it is typed. */
  readonly duration: string;
  readonly spot: boolean;
  /** The MIG profile, or the profile that leased nodes are set up with. */
  readonly profile: string;
  /** How often it has to be renewed; empty: never. */
  readonly lease: string;
  /** A tag of the tenant's own; empty: none. */
  readonly project: string;
}

/** What is wrong, by field. */
export type FormErrors = { readonly [K in keyof BookForm]?: string };

export type Ask =
  | {
      readonly ok: true;
      readonly request: BookingRequest;
      readonly words: string;
      readonly count: number;
    }
  | { readonly ok: false; readonly errors: FormErrors };

export interface PoolFacts {
  readonly id: string;
  /** GPUs of one node. */
  readonly perNode: number;
}

/** What is booked in a pool that is cut so. */
export function kindOf({ sharing }: Pick<Pool, "sharing">): Kind {
  if (sharing === "mig") return "gpu.mig";
  return sharing === "exclusive" ? "gpu" : "gpu.slot";
}

/** The form as an address; what is as it begins is left out. */
export function searchOf(form: BookForm, poolId: string): BookSearch {
  const typed = form.count.trim();
  const start = form.startTyped ?? (form.startFault === null ? form.start : null);
  return {
    pool: poolId,
    ...(typed === "" ? {} : { gpus: wholeCount(typed) ?? typed }),
    ...(form.together === "any" ? {} : { together: form.together }),
    ...(start === null ? {} : { start }),
    ...(form.duration.trim() === "" ? {} : { for: form.duration.trim() }),
    ...(form.spot ? { spot: true } : {}),
  };
}

const PROJECT = /^prj_[0-9a-hjkmnp-tv-z]{26,52}$/;
/** No pool lets anybody book for longer; some for less, which the preview says. */
const DURATION_MAX_MS = 366 * 86_400_000;
const LEASE_MIN_S = 30;
const LEASE_MAX_S = 86_400;

/** The request that the form makes in a pool, or what is wrong with it. */
export function askOf(form: BookForm, tenantId: string, pool: PoolFacts): Ask {
  const shaped = shapeOf(form, pool.perNode);
  const duration = parseDuration(form.duration);
  const lease = form.lease.trim() === "" ? null : parseDuration(form.lease);
  const leaseSeconds = lease === null ? null : Math.round(lease / 1_000);
  const errors: FormErrors = {
    ...shaped.errors,
    ...(form.startFault === null ? {} : { start: form.startFault }),
    ...(duration === null ? { duration: lengthFault(form.duration) ?? LENGTH_HINT } : {}),
    ...((duration ?? 0) > DURATION_MAX_MS ? { duration: "At most 366d" } : {}),
    ...(form.lease.trim() !== "" && !isLease(leaseSeconds)
      ? { lease: "From 30s to 24h, or empty" }
      : {}),
    ...(form.project !== "" && !PROJECT.test(form.project)
      ? { project: "A tag is prj_ and 26 letters and digits" }
      : {}),
  };
  if (shaped.shape === null || duration === null || Object.keys(errors).length > 0)
    return { ok: false, errors };
  const request: BookingRequest = {
    tenantId,
    poolId: pool.id,
    ...shaped.shape,
    ...(form.start === null ? {} : { start: form.start }),
    duration,
    ...(form.spot ? { spot: true } : {}),
    ...(leaseSeconds === null ? {} : { leaseSeconds }),
    ...(form.project === "" ? {} : { projectId: form.project }),
  };
  return { ok: true, request, words: shaped.words, count: Number(form.count) };
}

function isLease(seconds: number | null): boolean {
  return seconds !== null && seconds >= LEASE_MIN_S && seconds <= LEASE_MAX_S;
}

interface Shaped {
  readonly shape: (BookingShape & Pick<BookingRequest, "devices">) | null;
  readonly words: string;
  readonly errors: FormErrors;
}

function shapeOf(form: BookForm, perNode: number): Shaped {
  const count = wholeCount(form.count);
  if (count === null) return wrong({ count: "A whole number from 1 on" });
  const isOneNode = form.together === "node" || form.together === "nvlink";
  if (form.kind === "gpu" && isOneNode && count > perNode)
    return wrong({
      count: `One node of this pool has ${resourceCount(perNode, "gpu")}: more are kept together on one rack`,
    });
  try {
    return shapeOfCount(form, count, perNode);
  } catch (error) {
    if (error instanceof RangeError) return wrong({ count: sentence(error.message) });
    throw error;
  }
}

function shapeOfCount(form: BookForm, count: number, perNode: number): Shaped {
  const { kind, together, profile } = form;
  if (kind === "gpu") {
    const wish = together === "any" ? {} : { together };
    const shape = gpus(count, { ...wish, perNode });
    return { shape: { ...shape }, words: shape.words, errors: {} };
  }
  if (kind === "node") {
    if (profile === "") return wrong({ profile: "The profile that the nodes are set up with" });
    const isApart = together === "any" || together === "node" || together === "nvlink";
    const wish = isApart ? {} : { together };
    const shape = nodes(count, { ...wish, node: { profileId: profile } });
    return { shape: { ...shape }, words: shape.words, errors: {} };
  }
  const selector = profile === "" ? {} : { selector: { profile } };
  return {
    shape: { devices: [{ class: kind, count, ...selector }] },
    words: `${resourceCount(count, kind)} on one node`,
    errors: {},
  };
}

const wrong = (errors: FormErrors): Shaped => ({ shape: null, words: "", errors });

/** What is typed as a count; null when it is none. */
function wholeCount(text: string): number | null {
  const count = Number(text);
  return text.trim() !== "" && Number.isSafeInteger(count) && count >= 1 ? count : null;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Whether a number is typed that can be counted. */
export function isCount({ count }: Pick<BookForm, "count">): boolean {
  return wholeCount(count) !== null;
}

/** `16 GPUs`, `2 nodes`, `1 MIG instance`; `GPUs` alone while the count is none. */
export function countedText({ kind, count }: Pick<BookForm, "kind" | "count">): string {
  const number = wholeCount(count);
  // What is no count is said at its field; a button has no number of it.
  return number === null ? nounText(kind) : resourceCount(number, kind);
}
