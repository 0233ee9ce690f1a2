/** An example of every kind of error, as it comes over HTTP. */
import type { z } from "zod";
import { ERROR_KINDS, ERROR_PAGES, errorKindOf } from "../error-kinds.ts";
import { type ErrorCode, errors, type problem } from "../errors.ts";
import { booked } from "./capacity.ts";
import { hours, reservationId, unitReservationId } from "./story.ts";

export type Problem = z.input<typeof problem>;

const REQUEST = "0f6d6f3e-5f0c-4f8e-9a55-3d1f6f0a2b11";

interface Told {
  readonly message: string;
  readonly issues?: Problem["issues"];
  readonly details?: Problem["details"];
}

function problemOf(code: ErrorCode, { message, issues = null, details = null }: Told): Problem {
  const kind = errorKindOf(code, details);
  return {
    type: `${ERROR_PAGES}/${kind}`,
    title: ERROR_KINDS.get(kind)?.title ?? "",
    status: errors[code].http,
    detail: message,
    instance: REQUEST,
    errors:
      issues?.map(({ message: detail }) => ({
        pointer: "#/devices/0/count",
        path: "devices[0].count",
        detail,
      })) ?? null,
    code,
    message,
    retryable: errors[code].retryable,
    requestId: REQUEST,
    issues,
    details,
  };
}

const conflict = (kind: "key" | "version" | "overlap" | "plan", more: object = {}) => ({
  kind,
  ids: null,
  plan: null,
  ...more,
});

const noRoom = (code: NonNullable<typeof booked.reason>["code"]) => ({
  reason: {
    code,
    message: ERROR_KINDS.get(errorKindOf("NO_CAPACITY", { reason: { code } }))?.meaning ?? "",
    blocked: code === "EMPTY_POOL" ? [] : [{ cause: code, nodes: 4 }],
  },
  earliestStart: null,
  searchedTo: hours(8_784),
  latestEnd: null,
});

const CODES: Record<ErrorCode, Told> = {
  INVALID_INPUT: {
    message: "devices[0].count: must be at least 1",
    issues: [{ path: ["devices", 0, "count"], message: "must be at least 1" }],
  },
  UNAUTHENTICATED: {
    message: "Give a valid key or sign-in token as `Authorization: Bearer <token>`.",
  },
  FORBIDDEN: { message: "The role tenant-viewer does not allow compute:reservations:create here." },
  NOT_FOUND: { message: "It does not exist, or this caller may not see it." },
  CONFLICT: {
    message: "The key was used for another request.",
    details: conflict("key", { ids: [reservationId] }),
  },
  NO_CAPACITY: {
    message: booked.reason?.message ?? "",
    details: {
      reason: booked.reason ?? noRoom("BUSY").reason,
      earliestStart: booked.earliestStart,
      searchedTo: booked.searchedTo,
      latestEnd: null,
    },
  },
  QUOTA_EXCEEDED: {
    message: "2 gpu asked for, 15 of 16 are in use in this window.",
    details: { resource: "gpu", max: 16, peak: 15, remaining: null, requested: 2 },
  },
  CURSOR_EXPIRED: { message: "The events after this cursor are no longer kept: list again." },
  INVALID_STATE: { message: "The reservation is over: it was released." },
  TOO_LARGE: { message: errors.TOO_LARGE.sentence },
  RATE_LIMITED: { message: errors.RATE_LIMITED.sentence },
  UNAVAILABLE: { message: "The service cannot answer right now; try again in a moment." },
  INTERNAL: {
    message: "Something went wrong on our side; quote the request id when you report it.",
  },
};

const CONFLICTS: Record<string, Told> = {
  key: CODES.CONFLICT,
  version: {
    message: "It is at version 4 by now, not 3.",
    details: conflict("version"),
  },
  overlap: {
    message: "Units are set aside at some time of the term.",
    details: conflict("overlap", { ids: [unitReservationId] }),
  },
  plan: {
    message: "It would end other reservations by now.",
    details: conflict("plan", { plan: { wouldTerminate: [reservationId], wouldSkip: [] } }),
  },
};

/** By the kind's name, each with a sentence that says what it is. */
export const ERROR_EXAMPLES: Readonly<
  Record<string, { readonly summary: string; readonly value: Problem }>
> = Object.fromEntries(
  [...ERROR_KINDS].map(([name, { code, reason, title }]) => {
    const told = toldOf(code, reason);
    return [name, { summary: title, value: problemOf(code, told) }];
  }),
);

function toldOf(code: ErrorCode, reason: string | null): Told {
  if (reason === null) return CODES[code];
  if (code === "CONFLICT") return CONFLICTS[reason] ?? CODES.CONFLICT;
  if (reason === "BUSY") return CODES.NO_CAPACITY;
  // What has reasons is CONFLICT or NO_CAPACITY, whose reasons are the causes.
  const details = noRoom(reason as NonNullable<typeof booked.reason>["code"]);
  return { message: details.reason.message, details };
}

/** An answer of this kind, or null when there is no such kind. */
export function errorExample(name: string): Problem | null {
  return ERROR_EXAMPLES[name]?.value ?? null;
}
