/**
 * `GET /calendar.ics`: a tenant's bookings for calendar programs (RFC 5545), from a month ago on. They subscribe to an
 * address and know no bearer tokens: the key may come as the password of Basic authentication, whatever the user name.
 */
import { setImmediate } from "node:timers/promises";
import { type Api, ApiError, toApiError } from "@berth/api";
import { LIMITS, type Output } from "@berth/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  ICalCalendar,
  type ICalEventData,
  ICalEventStatus,
  ICalEventTransparency,
} from "ical-generator";
import { callerGone, contextOf, failed, recordOf } from "./calls.ts";
import { sendProblem } from "./problem.ts";
import type { SurfaceOptions } from "./rest.ts";

export const CALENDAR_PATH = "/calendar.ics";
const METHOD = "reservations.list";
const DAY_MS = 86_400_000;
const PAST_MS = 30 * DAY_MS;
/** Of so many pages; a calendar with more is of no use to a person. */
const PAGES_MAX = 2;
/** Entries that are written in one turn of the event loop: some 6 ms of work. */
const ENTRIES_A_TURN = 10;
/** How often programs come again by themselves. */
const REFRESH_SECONDS = 900;
/** Programs ask a person for a password when they are told that one would do. */
const CHALLENGE = 'Basic realm="berth", charset="UTF-8", Bearer realm="berth"';

type Reservation = Output<"reservations.list">["reservations"][number];
type Pool = Output<"pools.list">["pools"][number];

export function calendar(scope: FastifyInstance, { api, gatekeeper }: SurfaceOptions): void {
  scope.addHook("onSend", (_request, reply, payload) => {
    if (reply.statusCode === 401) void reply.header("www-authenticate", CHALLENGE);
    return Promise.resolve(payload);
  });
  scope.route({
    method: "GET",
    url: CALENDAR_PATH,
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      request.calls = [recordOf(METHOD)];
      takePassword(request);
      await gatekeeper.admit(request, reply, 1);
    },
    handler: (request, reply) => answer(request, reply, api),
  });
}

/** A password becomes the bearer token that it is. */
function takePassword({ headers }: FastifyRequest): void {
  const [, encoded] = /^basic +([a-z0-9+/=]{1,12288})$/i.exec(headers.authorization ?? "") ?? [];
  if (encoded === undefined) return;
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  headers.authorization = `Bearer ${password}`;
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  api: Api,
): Promise<FastifyReply> {
  try {
    const { tenantId, poolId } = askedFor(request.query as object);
    const ask: Ask = (method, input) =>
      api.invoke({
        method,
        context: contextOf(request),
        signal: callerGone(reply),
        rawInput: () => Promise.resolve(input),
      }) as Promise<Output<typeof method>>;
    const { pools } = await ask("pools.list", { tenantId });
    const { reservations, partial } = await recent(ask, { tenantId, poolId });
    const text = await calendarOf(reservations, { tenantId, pools, partial });
    return await reply
      .headers({
        "content-type": "text/calendar; charset=utf-8; method=PUBLISH",
        "content-disposition": 'attachment; filename="berth.ics"',
      })
      .send(text);
  } catch (thrown) {
    const error = toApiError(thrown);
    failed(request, error.code);
    return sendProblem(reply, error);
  }
}

type Ask = <M extends "pools.list" | typeof METHOD>(method: M, input: object) => Promise<Output<M>>;

/** The newest first, page by page. */
async function recent(
  ask: Ask,
  whose: { readonly tenantId: string; readonly poolId: string | undefined },
): Promise<{ readonly reservations: Reservation[]; readonly partial: boolean }> {
  const reservations: Reservation[] = [];
  const from = Date.now() - PAST_MS;
  const input = { ...whose, from, include: ["members"], limit: LIMITS.page };
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answered = await ask(METHOD, { ...input, cursor });
    reservations.push(...answered.reservations);
    if (answered.nextCursor === null) return { reservations, partial: false };
    cursor = answered.nextCursor;
  }
  return { reservations, partial: true };
}

/** @throws ApiError INVALID_INPUT that names the field */
function askedFor(query: object): {
  readonly tenantId: string;
  readonly poolId: string | undefined;
} {
  const wrong = (field: string, message: string): ApiError =>
    new ApiError("INVALID_INPUT", {
      message: `${field}: ${message}`,
      issues: [{ path: [field], message }],
    });
  for (const [field, value] of Object.entries(query)) {
    if (field !== "tenantId" && field !== "poolId")
      throw wrong(field, "is not a field of this request");
    if (typeof value !== "string") throw wrong(field, "may be given once");
  }
  const { tenantId, poolId } = query as { readonly tenantId?: string; readonly poolId?: string };
  if (tenantId === undefined) throw wrong("tenantId", "is missing");
  return { tenantId, poolId };
}

interface Around {
  readonly tenantId: string;
  readonly pools: readonly Pool[];
  /** There were more than fit. */
  readonly partial: boolean;
}

/** Some entries at a time: each costs the writer half a millisecond, and others have their turn in between. */
async function calendarOf(reservations: readonly Reservation[], around: Around): Promise<string> {
  const [head = "", tail = ""] = emptyCalendar(around)
    .toString()
    .split(/^(?=END:VCALENDAR)/m);
  const parts = [head];
  for (let from = 0; from < reservations.length; from += ENTRIES_A_TURN) {
    const some = emptyCalendar(around);
    for (const reservation of reservations.slice(from, from + ENTRIES_A_TURN))
      some.createEvent(entryOf(reservation, around));
    const text = some.toString();
    parts.push(text.slice(head.length, text.length - tail.length));
    await setImmediate();
  }
  return [...parts, tail].join("");
}

function emptyCalendar({ tenantId, partial }: Around): ICalCalendar {
  return new ICalCalendar({
    name: `Berth: ${tenantId}`,
    prodId: "//Berth//Berth//EN",
    ttl: REFRESH_SECONDS,
    ...(partial
      ? { description: "There are more bookings than are shown: the newest are here." }
      : {}),
  });
}

function entryOf(reservation: Reservation, { pools }: Around): ICalEventData {
  const { id, poolId, start, end, endedAt, state, version, createdAt, updatedAt } = reservation;
  const pool = pools.find((one) => one.id === poolId);
  // What ended before it began was never there; it is told as called off, for who had it already.
  const until = Math.min(end, endedAt ?? end);
  const never = until <= start;
  return {
    id: `${id}@berth`,
    sequence: version,
    stamp: new Date(updatedAt),
    created: new Date(createdAt),
    lastModified: new Date(updatedAt),
    start: new Date(start),
    end: new Date(never ? end : until),
    summary: `${whatOf(reservation)} in ${pool?.label || pool?.gpuModel || poolId}`,
    description: [`${id}, ${state}`, ...placesOf(reservation)].join("\n"),
    status: never ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    transparency: ICalEventTransparency.TRANSPARENT,
  };
}

/** `2 × 8 gpu, spot`. */
function whatOf({ devices, gang, spot }: Reservation): string {
  const lines = devices.map(({ class: kind, count }) => `${count} ${kind}`).join(" + ");
  return `${gang ? `${gang.size} × ` : ""}${lines}${spot ? ", spot" : ""}`;
}

function placesOf({ members, projectId }: Reservation): string[] {
  const nodes = (members ?? []).map(({ nodeName }) => nodeName);
  return [
    ...(nodes.length > 0 ? [`On ${nodes.join(", ")}`] : []),
    ...(projectId === null ? [] : [`Project ${projectId}`]),
  ];
}
