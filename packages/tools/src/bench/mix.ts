/** The calls of a working day in their shares: what the load bench sends. */
import type { Answer, Caller } from "./caller.ts";
import { freshKey } from "./pairs.ts";

export interface Booked {
  readonly id: string;
  readonly tenantId: string;
  readonly poolId: string;
  readonly leased: boolean;
  /** By the machine's clock: from then on it is nobody's to renew, extend or release. */
  until: number;
  end: number;
}

/** One tenant at every server. */
export interface Client {
  readonly tenantId: string;
  readonly callers: readonly Caller[];
}

export interface Setting {
  readonly clients: readonly Client[];
  readonly pools: readonly string[];
  readonly random: () => number;
  /** What was booked and not let go; the oldest are forgotten. */
  readonly booked: Booked[];
}

/** One arrival: what was asked and every answer to it. */
export interface Arrival {
  readonly kind: Kind;
  readonly answers: readonly Answer[];
}

/** Shares of a hundred. */
const SHARES = { create: 55, release: 20, renew: 10, extend: 5, preview: 5, read: 5 } as const;
export type Kind = keyof typeof SHARES;

/** Creates that are sent twice at once, with one key. */
const TWICE = 0.1;
const REMEMBERED = 4_000;
const LEASE_SECONDS = 60;
const HOUR = 3_600_000;
/** Booked ahead: some days are enough that no pool is full. */
const AHEAD_HOURS = 72;
/** As late as a call may come to what it is about. */
const MARGIN_MS = 5_000;

export function draw(random: () => number): Kind {
  let left = random() * 100;
  for (const [kind, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return "create";
}

/** What needs a booking makes one while there is none. */
export async function arrive(setting: Setting, kind: Kind): Promise<Arrival> {
  if (kind === "preview") return { kind, answers: [await preview(setting)] };
  if (kind === "read") return { kind, answers: [await read(setting)] };
  const booked = kind === "create" ? null : takeBooked(setting, kind);
  if (!booked) return { kind: "create", answers: await create(setting) };
  return { kind, answers: [await change(setting, kind, booked)] };
}

/** A third of them begin now, and some of those are leased. */
function askFor({ random }: Pick<Setting, "random">): object {
  const devices = [{ class: "gpu", count: 1 + Math.floor(random() * 2) }];
  if (random() < 0.67) {
    const start = Date.now() + Math.floor((1 + random() * AHEAD_HOURS) * HOUR);
    const lease = random() < 0.5 ? { leaseSeconds: LEASE_SECONDS } : {};
    return { devices, start, duration: "1h", ...lease };
  }
  return { devices, duration: "30s", ...(random() < 0.5 ? { leaseSeconds: LEASE_SECONDS } : {}) };
}

async function create(setting: Setting): Promise<Answer[]> {
  const { random, booked } = setting;
  const { tenantId, callers } = pick(setting.clients, random);
  const poolId = pick(setting.pools, random);
  const ask = askFor(setting);
  const input = { tenantId, poolId, ...ask, idempotencyKey: freshKey() };
  const twice = random() < TWICE;
  const first = Math.floor(random() * callers.length);
  const answers = await Promise.all(
    Array.from({ length: twice ? 2 : 1 }, (_, i) => {
      const caller = callers[(first + i) % callers.length] as Caller;
      return caller.call("reservations.create", input);
    }),
  );
  const ids = new Set(
    answers.flatMap(({ status, body }) => (status === 200 ? [String(body["id"])] : [])),
  );
  if (ids.size > 1) throw new Error(`one key made ${[...ids].join(" and ")}`);
  const made = answers.find(({ status }) => status === 200);
  if (!made) return answers;
  const end = Number(made.body["end"]);
  const until = made.body["leaseSeconds"] === null ? end : Number(made.body["leaseExpiresAt"]);
  const leased = made.body["leaseSeconds"] !== null;
  booked.push({ id: String(made.body["id"]), tenantId, poolId, leased, until, end });
  if (booked.length > REMEMBERED) booked.shift();
  return answers;
}

/** One that is surely live, taken away: two changes of one at once would be about each other. */
function takeBooked({ booked, random }: Setting, kind: Kind): Booked | null {
  const now = Date.now() + MARGIN_MS;
  for (let tries = 0; tries < 20 && booked.length > 0; tries += 1) {
    const at = Math.floor(random() * booked.length);
    const one = booked[at] as Booked;
    if (kind === "renew" && !one.leased && one.until >= now) continue;
    booked.splice(at, 1);
    if (one.until >= now) return one;
  }
  return null;
}

async function change(setting: Setting, kind: Kind, booked: Booked): Promise<Answer> {
  const { tenantId, id: reservationId } = booked;
  const more = kind === "extend" ? { end: booked.end + 60_000 } : {};
  const caller = callerOf(setting, tenantId);
  const answer = await caller.call(`reservations.${kind}`, { tenantId, reservationId, ...more });
  if (answer.status === 200 && kind !== "release") {
    booked.end = Number(answer.body["end"]);
    booked.until = booked.leased ? Number(answer.body["leaseExpiresAt"]) : booked.end;
    setting.booked.push(booked);
  }
  return answer;
}

function preview(setting: Setting): Promise<Answer> {
  const { tenantId } = pick(setting.clients, setting.random);
  const poolId = pick(setting.pools, setting.random);
  const input = { tenantId, poolId, ...askFor(setting), idempotencyKey: freshKey() };
  return callerOf(setting, tenantId).call("capacity.preview", input);
}

function read(setting: Setting): Promise<Answer> {
  const { random, booked, pools } = setting;
  const { tenantId } = pick(setting.clients, random);
  const poolId = pick(pools, random);
  const one = booked[Math.floor(random() * booked.length)];
  if (one && random() < 0.5) {
    const about = { tenantId: one.tenantId, reservationId: one.id };
    return callerOf(setting, one.tenantId).call("reservations.get", about);
  }
  const caller = callerOf(setting, tenantId);
  if (random() < 0.5) return caller.call("capacity.byPool", { tenantId, poolId });
  return caller.call("reservations.list", { tenantId, poolId, limit: 50 });
}

function callerOf({ clients, random }: Setting, tenantId: string): Caller {
  const client = clients.find((one) => one.tenantId === tenantId);
  if (!client) throw new Error(`nobody calls as ${tenantId}`);
  return pick(client.callers, random);
}

function pick<T>(list: readonly T[], random: () => number): T {
  const one = list[Math.floor(random() * list.length)];
  if (one === undefined) throw new Error("nothing to pick from");
  return one;
}
