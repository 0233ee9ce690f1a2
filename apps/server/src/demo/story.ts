/** The demo's story, told through the published client: a fleet becomes pools, tenants book, one has to wait. */
import { type Berth, type Reservation, createBerth, isBerthError } from "@berth/client";
import type { ImportDocument } from "../import/document.ts";
import { drawCapacity } from "./bars.ts";
import { type OpenPool, makeTenants, openFleet } from "./fleet.ts";
import { showKinds } from "./kinds.ts";
import { type Booker, type Job, OWNER, TENANTS, jobsFor } from "./plan.ts";

export interface Stage {
  readonly url: string;
  readonly adminKey: string;
  readonly document: ImportDocument;
  print(line?: string): void;
  readonly color: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

interface Cast {
  readonly admin: Berth;
  readonly bookers: Readonly<Record<Booker, Berth>>;
  /** What the tenant vision presents. */
  readonly token: string;
}

const HOUR_MS = 3_600_000;
const SHOWN_MAX = 12;

/** What is left to try when the story is told. */
export interface Ending {
  /** What the tenant vision presents. */
  readonly token: string;
  /** A pool with room for the README's example; null when none has it. */
  readonly poolId: string | null;
}

export async function tell(stage: Stage): Promise<Ending> {
  const { print } = stage;
  const cast = await callTenants(stage);
  const pools = await openPools(stage, cast);
  print("");
  await showCapacity(stage, cast, { pools, title: "Capacity before" });
  print("");
  const bookings = await bookAtOnce(stage, cast, pools);
  for (const line of listed(bookings, pools)) print(line);
  print("");
  await showCapacity(stage, cast, { pools, title: "Capacity after" });
  print("");
  await outOfRoom(stage, cast, pools);
  print("");
  await showKinds(cast, print);
  return { token: cast.token, poolId: await roomyPool(cast, pools) };
}

async function callTenants({ url, adminKey }: Stage): Promise<Cast> {
  const admin = createBerth({ url, token: adminKey });
  const { vision, speech, robotics } = await makeTenants(admin);
  const client = (token: string) => createBerth({ url, token });
  return {
    admin,
    bookers: { vision: client(vision), speech: client(speech), robotics: client(robotics) },
    token: vision,
  };
}

async function openPools({ document, print }: Stage, { admin }: Cast): Promise<OpenPool[]> {
  const started = performance.now();
  const pools = await openFleet(admin, document);
  const { nodes, gpus } = await counted(admin);
  print(`${nodes} nodes with ${gpus} GPUs imported, in ${pools.length} pools, ${seconds(started)}`);
  print(`offered to ${TENANTS.join(", ")} with a quota each`);
  return pools;
}

/** As `capacity.summary` counts them. */
async function counted(admin: Berth): Promise<{ nodes: string; gpus: string }> {
  const { pools } = await admin.capacity.summary({ tenantId: OWNER });
  const total = (resource: string) =>
    pools
      .flatMap((pool) => pool.capacity)
      .filter((row) => row.resource === resource)
      .reduce((sum, row) => sum + row.total, 0)
      .toLocaleString("en-US");
  return { nodes: total("node"), gpus: total("gpu") };
}

async function showCapacity(
  { print, color, width }: Stage,
  { admin }: Cast,
  { pools, title }: { readonly pools: readonly OpenPool[]; readonly title: string },
): Promise<void> {
  const summary = await admin.capacity.summary({ tenantId: OWNER });
  const names = new Map(pools.map((pool) => [pool.id, pool.group.model]));
  const order = pools.map((pool) => pool.id);
  const inOrder = summary.pools.toSorted(
    (a, b) => order.indexOf(a.poolId) - order.indexOf(b.poolId),
  );
  print(title);
  for (const line of drawCapacity(inOrder, { names, color, width })) print(line);
}

/** Every tenant at once, in every pool at once. */
async function bookAtOnce(
  { print }: Stage,
  { bookers }: Cast,
  pools: readonly OpenPool[],
): Promise<Reservation[]> {
  const started = performance.now();
  let first: number | undefined;
  const book = async (poolId: string, job: Job): Promise<Reservation> => {
    const booked = await bookers[job.tenant].reservations.create({
      tenantId: job.tenant,
      poolId,
      devices: [{ class: "gpu", count: job.gpus }],
      duration: `${job.hours}h`,
      ...(job.inHours === 0 ? {} : { start: Date.now() + job.inHours * HOUR_MS }),
    });
    first ??= performance.now();
    return booked;
  };
  const wishes = pools.flatMap(({ id, group }) =>
    jobsFor(group).map((job) => book(id, job).catch(unlessNoRoom)),
  );
  const bookings = (await Promise.all(wishes)).filter((booked) => booked !== null);
  print(
    `Booked through @berth/client: ${bookings.length} bookings by ${TENANTS.length} tenants at once`,
  );
  print(
    `  the first ${((first ?? 0) / 1_000).toFixed(2)} s after the start, all in ${seconds(started)}`,
  );
  return bookings;
}

/** A fleet given by file may be too small for every wish. */
function unlessNoRoom(error: unknown): null {
  if (isBerthError(error, "NO_CAPACITY")) return null;
  throw error;
}

function listed(bookings: readonly Reservation[], pools: readonly OpenPool[]): string[] {
  const models = new Map(pools.map((pool) => [pool.id, pool.group.model]));
  const lines = bookings.slice(0, SHOWN_MAX).map((booked) => {
    const member = booked.members?.[0];
    const what = `${member?.atoms.length ?? 0} × ${models.get(booked.poolId) ?? "GPU"}`;
    const when = booked.state === "active" ? "now" : clock(booked.start);
    return `  ${booked.id}  ${booked.tenantId.padEnd(8)}  ${what} on ${member?.nodeName ?? "?"}, ${when} to ${clock(booked.end)}`;
  });
  const more = bookings.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

/** Fills the smallest pool and asks for one more node of it. */
async function outOfRoom(stage: Stage, cast: Cast, pools: readonly OpenPool[]): Promise<void> {
  const smallest = pools.at(-1);
  if (!smallest) return;
  const { id: poolId, group } = smallest;
  await fill(cast.bookers.speech, poolId, group.largest);
  const devices = [{ class: "gpu", count: group.largest }] as const;
  const ask = { tenantId: "robotics", poolId, devices: [...devices], duration: "1h" };
  const answer = await cast.bookers.robotics.capacity.preview(ask);
  const { print } = stage;
  print("A request that does not fit");
  print(`  robotics asks for ${group.largest} × ${group.model} on one node, now, for 1 h`);
  print(`  ${answer.reason ? answer.reason.message : "it fits after all"}`);
  for (const { cause, nodes } of answer.reason?.blocked ?? [])
    print(`    ${cause}: ${nodes} nodes`);
  print(
    answer.earliestStart === null
      ? "  earliest start: none within the pool's horizon"
      : `  earliest start: ${clock(answer.earliestStart)}`,
  );
}

/** A pool that takes what the README's example asks for: eight GPUs on one node, now. */
async function roomyPool({ bookers }: Cast, pools: readonly OpenPool[]): Promise<string | null> {
  for (const { id: poolId } of pools) {
    const devices = [{ class: "gpu" as const, count: 8 }];
    const ask = { tenantId: "vision", poolId, devices, duration: "4h" };
    if ((await bookers.vision.capacity.preview(ask)).fits) return poolId;
  }
  return null;
}

/** Whole nodes first, then what is left of the others. */
async function fill(berth: Berth, poolId: string, largest: number): Promise<void> {
  for (let gpus = largest; gpus > 0; gpus = Math.floor(gpus / 2)) {
    const devices = [{ class: "gpu" as const, count: gpus }];
    const ask = { tenantId: "speech", poolId, devices, duration: "1h" };
    while (await berth.reservations.create(ask).catch(unlessNoRoomOrQuota));
  }
}

function unlessNoRoomOrQuota(error: unknown): null {
  if (isBerthError(error, "QUOTA_EXCEEDED")) return null;
  return unlessNoRoom(error);
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(2)} s`;

/** Local time, with its zone named. */
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const clock = (at: number) => CLOCK.format(at);
