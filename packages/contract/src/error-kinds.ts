/**
 * Every kind of error that a `type` can name: one a code, one more a reason of a code that has reasons. Each
 * has a page of its own, which is what its `type` leads to; the server and the documentation print the same ones.
 */
import type { Cause } from "@berth/domain";
import { type ErrorCode, type ErrorDetails, errors } from "./errors.ts";

export interface ErrorKind {
  readonly code: ErrorCode;
  /** Which of the code's reasons; null: the code as a whole. */
  readonly reason: string | null;
  /** The same for every error of the kind. */
  readonly title: string;
  /** What has happened, for people. */
  readonly meaning: string;
  /** What to do about it, a sentence a step. */
  readonly steps: readonly string[];
}

type Told = Pick<ErrorKind, "title" | "meaning" | "steps">;

const CODES: Record<ErrorCode, Omit<Told, "meaning"> & { readonly more?: string }> = {
  INVALID_INPUT: {
    title: "The input is not valid",
    more:
      "`errors` says where each fault is, as a JSON Pointer and as a path for people, and what is wrong there. A field " +
      "that the method does not know is refused, never dropped. What is wrong with the request itself (its verb, its " +
      "headers, its encoding) has this code, too, under the status that HTTP has for it: 405, 408, 417 or 431.",
    steps: [
      "Change the fields that `errors` names; the same call will never succeed as it is.",
      "Hold the body against the request's schema in the OpenAPI document.",
      "`Idempotency-Key` and `If-Match` say the same as `idempotencyKey` and `version` in the body: give one of them, or both alike.",
    ],
  },
  UNAUTHENTICATED: {
    title: "Who calls is not known",
    steps: [
      "Send `Authorization: Bearer <token>` with an API key, or with a token of the issuer that the server trusts.",
      "A token that was good before has expired or was revoked: get another one.",
    ],
  },
  FORBIDDEN: {
    title: "The caller may see this and not do it",
    steps: [
      "Ask an administrator of the tenant for a role that allows it; each method's reference says which action it is decided as.",
      "A key may be narrower than its role: `access.whoami` shows its scope.",
    ],
  },
  NOT_FOUND: {
    title: "There is nothing to be seen under this name",
    more:
      "What is not there and what the caller may not know of are answered alike, so that nobody learns of another " +
      "tenant's things by asking. An address that is no path of the server has this code, too.",
    steps: [
      "Look at the id, and at the tenant that the call is made for.",
      "`access.whoami` says who the server takes you for; the `list` methods answer all that you may see.",
    ],
  },
  CONFLICT: {
    title: "Something else was there first",
    more: "`details.kind` says what: a key, a version, an overlap or a plan. Each has a page of its own.",
    steps: ["Do not send the same call again; read what `details` says and decide anew."],
  },
  NO_CAPACITY: {
    title: "It does not fit",
    more:
      "`details.reason.code` is the cause that rules out the most nodes and `details.reason.blocked` counts all of them; " +
      "each cause has a page of its own. `details.earliestStart` is the first time at which the same request would fit.",
    steps: [
      "Book it for `details.earliestStart`, when that is given.",
      "Ask for less, for longer ahead or with fewer wishes: `reservations.quote` answers several such shapes at once, and writes nothing.",
      "Say `wait` to be booked when room appears, or `spot` if the work can be interrupted.",
    ],
  },
  QUOTA_EXCEEDED: {
    title: "It would pass the quota",
    more:
      "Quota is counted as the most in use at any one instant of the window asked for. It is refused whether or not there " +
      "is room.",
    steps: [
      "Ask for no more than what `details` leaves, or for a window in which less is in use.",
      "Release what is not needed; what ends before the window does not count.",
      "The pool's owner changes a quota with `pools.offer`.",
    ],
  },
  CURSOR_EXPIRED: {
    title: "The events after this cursor are gone",
    steps: [
      "Read the present state with the `list` methods, then go on from a fresh cursor.",
      "A cursor is good for as long as events are kept, and for no database that was restored since.",
    ],
  },
  INVALID_STATE: {
    title: "Not in the state that it is in",
    more:
      "The call is right and its time is not: the pool is archived, the booking is over, a node still holds bookings. The " +
      "status is 412; a version that has moved on is CONFLICT, under 409.",
    steps: [
      "Read the thing again and look at its `state`; the message names what stands in the way.",
      "Do not send the same call again until that has changed.",
    ],
  },
  TOO_LARGE: {
    title: "The body is too large",
    steps: [
      "Send it in parts: `fleet.putNodes` can be called once for some hundred nodes at a time.",
    ],
  },
  RATE_LIMITED: {
    title: "Too many calls",
    more:
      "`RateLimit-Policy` says what is allowed and `RateLimit` what is left; both are hints, counted by one server of " +
      "maybe several. A cap on calls that wait for room, or on open streams, has this code, too.",
    steps: [
      "Wait for as many seconds as `Retry-After` says, then send the same call again.",
      "Put several calls into one request of tRPC only if they belong together: each counts.",
    ],
  },
  UNAVAILABLE: {
    title: "Not now",
    steps: [
      "Send the same call again after `Retry-After`; with the same idempotency key it cannot happen twice.",
      "When it lasts: operators read `/readyz` and the log.",
    ],
  },
  INTERNAL: {
    title: "A bug of the server",
    steps: [
      "Quote `requestId` to whoever runs the server: the log has what happened under it.",
      "Whether the call took effect is not known: look before you repeat it, or repeat it with its idempotency key.",
    ],
  },
};

type Kind = ErrorDetails<"CONFLICT">["kind"];

const CONFLICTS: Record<Kind, Told> = {
  key: {
    title: "The idempotency key was used for another request",
    meaning:
      "The caller has used this key before and asked for something else with it. (The same request with the same key is " +
      "answered as it was the first time, with `Idempotent-Replayed: true`; one that is still running is waited for. The " +
      "draft of the header has 422 for this; here it is 409, and told from other conflicts by its `type`.)",
    steps: [
      "Make a new key for a new request: one a logical call, kept over its retries.",
      "To find what the key made, list the reservations; its id is in `details.ids` where there is one.",
    ],
  },
  version: {
    title: "It has changed since it was read",
    meaning: "The `version` (or `If-Match`) that the call names is not the present one.",
    steps: ["Read it again, look at what changed, and send the call with the present version."],
  },
  overlap: {
    title: "Units are set aside or booked at that time",
    meaning:
      "Units that are to be set aside are already: by another unit reservation at some time of the term, or by live " +
      "reservations of orgs outside the audience. `details.ids` names what of them the caller may know of.",
    steps: ["Name other units or another term, or end what is in the way."],
  },
  plan: {
    title: "The plan has changed since it was shown",
    meaning:
      "The call was to be carried out only as a dry run had shown it (`expect`), and it would do something else by now. " +
      "Nothing was done; `details.plan` is the plan as it is.",
    steps: ["Show the new plan to whoever agreed to the old one, then send it as `expect`."],
  },
};

const CAUSES: Record<Cause, Told> = {
  NODE_STATE: {
    title: "No room: nodes are not ready",
    meaning:
      "Most nodes that could serve the request are being set up, are unhealthy or do not answer.",
    steps: ["Ask the operator when they are back, or use another pool."],
  },
  MAINTENANCE: {
    title: "No room: maintenance",
    meaning: "Most nodes that could serve the request are out of service for a part of the window.",
    steps: [
      "End before the maintenance or begin after it: `details.earliestStart` is the first time that does.",
    ],
  },
  UNHEALTHY: {
    title: "No room: faulty units",
    meaning: "Most nodes that could serve the request have too few sound units for it, even empty.",
    steps: ["Ask for fewer units a node, or ask the operator when the faulty ones are replaced."],
  },
  WITHHELD: {
    title: "No room: units are set aside for others",
    meaning:
      "Most nodes that could serve the request have units that are withheld for orgs that you are not one of.",
    steps: [
      "Book it as `spot`: what is withheld may be on the spot market.",
      "Ask the operator of the fleet, or use another pool.",
    ],
  },
  SELECTOR: {
    title: "No room: nothing has what is asked for",
    meaning:
      "Most nodes do not carry the labels, the model, the profile or the memory that the request names.",
    steps: [
      "Compare `selector` with what `fleet.listNodes` shows of the pool: values have to be equal.",
    ],
  },
  CLASS: {
    title: "No room: no units of this kind",
    meaning:
      "Most nodes have no unit of the class asked for. A pool's GPUs are booked whole, as MIG instances or as slots, as its " +
      "`sharing` says.",
    steps: [
      "Ask for the class that the pool has: `pools.get` shows `sharing`, `capacity.byPool` its rows.",
    ],
  },
  COUNT: {
    title: "No room: nodes are too small",
    meaning:
      "Most nodes have fewer units than one line of the request asks for. A line is never split over nodes.",
    steps: ["Ask for fewer a node and for several members: `gang: { size }` books them together."],
  },
  BUSY: {
    title: "No room: booked",
    meaning: "Most nodes that could serve the request are booked for too much of the window.",
    steps: [
      "Book it for `details.earliestStart`, or wait with `wait: { timeoutMs }`.",
      "Ask for less time or fewer units: `reservations.quote` answers several shapes at once.",
    ],
  },
  NVLINK: {
    title: "No room: not within one NVLink domain",
    meaning:
      "Enough units are free on a node, but not in one NVLink domain, which `topology: nvlink-all` asks for.",
    steps: ["Ask for `topology: any`, for fewer GPUs, or for `details.earliestStart`."],
  },
  SCALAR: {
    title: "No room: CPU or memory",
    meaning: "The units are free; the CPUs, the memory or the huge pages beside them are not.",
    steps: ["Ask for less in `resources`: it counts for every member."],
  },
  TOPOLOGY_KEY: {
    title: "No room: nodes without the label",
    meaning:
      "Most nodes do not carry the label of `gang.topologyKey`, so that they are in no group of it.",
    steps: ["Name a label that the nodes carry, or leave it out."],
  },
  EMPTY_POOL: {
    title: "No room: the pool has no nodes",
    meaning: "There is no node in the pool.",
    steps: ["Its owner puts nodes into it with `fleet.putNodes` or `fleet.assignNode`."],
  },
  GANG: {
    title: "No room: not for all members together",
    meaning:
      "There is room for some members of the gang, and not for all of them within one group.",
    steps: [
      "Ask for a smaller gang, leave out `topologyKey`, or book it for `details.earliestStart`.",
    ],
  },
};

const slug = (...parts: readonly string[]) => parts.join("-").toLowerCase().replaceAll("_", "-");

function kindsOf<R extends string>(
  code: ErrorCode,
  reasons: Readonly<Record<R, Told>>,
): [string, ErrorKind][] {
  return Object.entries<Told>(reasons).map(([reason, told]) => [
    slug(code, reason),
    { code, reason, ...told },
  ]);
}

/** Every kind by its name in an address, the codes first. */
export const ERROR_KINDS: ReadonlyMap<string, ErrorKind> = new Map([
  ...Object.entries(CODES).map(([name, { title, more, steps }]): [string, ErrorKind] => {
    // Object.entries forgets the names that the type above lists.
    const code = name as ErrorCode;
    const { sentence } = errors[code];
    const meaning = more === undefined ? sentence : `${sentence} ${more}`;
    return [slug(code), { code, reason: null, title, meaning, steps }];
  }),
  ...kindsOf("CONFLICT", CONFLICTS),
  ...kindsOf("NO_CAPACITY", CAUSES),
]);

/** The name of an error's kind, by its code and what its details give as the reason. */
export function errorKindOf(code: ErrorCode, details: unknown): string {
  const named = slug(code, reasonIn(details));
  return ERROR_KINDS.has(named) ? named : slug(code);
}

function reasonIn(details: unknown): string {
  const { kind, reason } = (details ?? {}) as {
    kind?: unknown;
    reason?: { code?: unknown } | null;
  };
  const named = kind ?? reason?.code;
  return typeof named === "string" ? named : "";
}

/** Where the page of a kind is on a server; `type` is this, or this at the server's public address. */
export const ERROR_PAGES = "/docs/errors";
