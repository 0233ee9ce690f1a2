/** Pools to call the booking groups on: made through the API, with a clock that a test turns. */
import { type ManualClock, manualClock, waitFor } from "@berth/db/testing";
import type { Input, Output } from "@berth/contract";
import type { Method } from "../call.ts";
import { createApi } from "../root.ts";
import { type Outcome, type TestApi, testApi } from "../testing/test-api.ts";

/** A whole UTC hour. */
export const NOW = 1_800_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const GUESTS = ["t-a", "t-b", "t-c"] as const;

type Pool = Output<"pools.get">;
type Reservation = Output<"reservations.get">;
type Loose = Readonly<Record<string, unknown>>;

export class BookingApi {
  readonly test: TestApi;
  readonly clock: ManualClock;
  readonly siteId: string;
  #count = 0;

  private constructor(test: TestApi, clock: ManualClock, siteId: string) {
    this.test = test;
    this.clock = clock;
    this.siteId = siteId;
  }

  /** Tenants `t-own` and the guests, and a site of the owner's. */
  static async open(): Promise<BookingApi> {
    const test = await testApi();
    const clock = await manualClock(test.database.url, NOW);
    for (const tenantId of ["t-own", ...GUESTS])
      await test.invoke("fleet.putTenant", { tenantId }, test.admin);
    const site = { tenantId: "t-own", name: "hall", region: "eu-1" };
    const { id } = await test.invoke("fleet.putSite", site, test.admin);
    return new BookingApi(test, clock, String(id));
  }

  async close(): Promise<void> {
    await this.clock.close();
    await this.test.close();
  }

  /** Calls as the fleet's admin, who may do everything for every tenant. */
  async call<M extends Method>(method: M, input: Loose): Promise<Output<M>> {
    return (await this.test.invoke(method, input, this.test.admin)) as Output<M>;
  }

  outcome(method: Method, input: Loose, signal?: AbortSignal): Promise<Outcome> {
    return this.test.outcome(method, input, this.test.admin, signal);
  }

  /** The error of a call that has to fail. */
  async error(method: Method, input: Loose): Promise<NonNullable<Outcome["error"]>> {
    const { error, output } = await this.outcome(method, input);
    if (!error) throw new Error(`${method} was accepted: ${JSON.stringify(output)}`);
    return error;
  }

  /** How many statements the method itself makes of the reading connections. */
  async statements(method: Method, input: Loose): Promise<number> {
    const { deps, admin } = this.test;
    let count = 0;
    const sql = new Proxy(deps.db.sql, {
      apply(target, self, parts) {
        count += 1;
        return Reflect.apply(target, self, parts);
      },
    });
    const counting = createApi({ ...deps, db: { ...deps.db, sql } });
    await counting.invoke({
      method,
      rawInput: () => Promise.resolve(input),
      context: counting.context({ token: admin, requestId: "counting" }),
    });
    await counting.stop();
    return count;
  }

  /** An exclusive pool of `nodes` × `gpus`, offered to the guests with this gpu quota. */
  async pool(nodes: number, gpus: number, given: Loose & { quota?: number } = {}): Promise<string> {
    const { quota = 1_000, ...parts } = given;
    const { tenantId, siteId } = { tenantId: "t-own", siteId: this.siteId };
    const pool = await this.call("pools.create", {
      tenantId,
      siteId,
      class: "metal-host",
      gpuModel: "H100",
      ...parts,
    });
    const reports = Array.from({ length: nodes }, (_, n) => this.report(`${pool.id}-${n}`, gpus));
    if (nodes > 0) await this.call("fleet.putNodes", { siteId, poolId: pool.id, nodes: reports });
    for (const toTenantId of GUESTS)
      await this.call("pools.offer", {
        tenantId,
        poolId: pool.id,
        toTenantId,
        quota: { gpu: quota },
      });
    return pool.id;
  }

  report(name: string, gpus: number): Loose {
    return {
      name,
      address: `${name.slice(-1)}.example`,
      vcpu: 64,
      memoryGiB: 512,
      gpus: Array.from({ length: gpus }, (_, index) => ({
        uuid: `GPU-${name}-${index}`,
        index,
        model: "H100",
        memoryMiB: 81_920,
      })),
    };
  }

  /** A create input: `gpus` GPUs for an hour from now, with a key of its own. */
  wish(poolId: string, gpus: number, given: Loose = {}): Loose & { tenantId: string } {
    this.#count += 1;
    return {
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu", count: gpus }],
      duration: "1h",
      idempotencyKey: `key-${this.#count}`,
      ...given,
    };
  }

  book(poolId: string, gpus: number, given: Loose = {}): Promise<Reservation> {
    return this.call("reservations.create", this.wish(poolId, gpus, given));
  }

  /** A create that waits: given back once it is in line. */
  async waiting(
    poolId: string,
    gpus: number,
    given: Loose = {},
  ): Promise<{ readonly wish: Loose; readonly outcome: Promise<Outcome>; hangUp(): void }> {
    const before = await this.inLine(poolId);
    const caller = new AbortController();
    const wish = this.wish(poolId, gpus, { wait: { timeoutMs: 20_000 }, ...given });
    const outcome = this.outcome("reservations.create", wish, caller.signal);
    await waitFor(async () => (await this.inLine(poolId)) > before, "a waiter in line");
    return { wish, outcome, hangUp: () => caller.abort() };
  }

  /** How many wait for the pool. */
  async inLine(poolId: string): Promise<number> {
    const [row] = await this.test.database.sql<{ waiting: number }[]>`
      select count(*) as waiting from waiters where pool_id = ${poolId} and done_at is null`;
    return row?.waiting ?? 0;
  }

  release(reservation: Reservation): Promise<Reservation> {
    const { tenantId, id: reservationId } = reservation;
    return this.call("reservations.release", { tenantId, reservationId });
  }

  seen(poolId: string, tenantId: string): Promise<Pool> {
    return this.call("pools.get", { tenantId, poolId });
  }

  async used(poolId: string, tenantId: string): Promise<number | null | undefined> {
    const { quota } = await this.seen(poolId, tenantId);
    return quota.find((row) => row.resource === "gpu")?.used;
  }

  async gpuRow(poolId: string): Promise<Output<"capacity.byPool">["capacity"][number]> {
    const { capacity } = await this.call("capacity.byPool", { tenantId: "t-own", poolId });
    const row = capacity.find((r) => r.resource === "gpu");
    if (!row) throw new Error("the pool has no gpu row");
    return row;
  }

  /** The types of the events that a tenant has seen of a pool, oldest first. */
  async events(tenantId: string, poolId: string): Promise<string[]> {
    await this.test.database.feedCaughtUp();
    const { events } = await this.call("events.list", { tenantId, poolId, limit: 200 });
    return events.map((event) => event.type);
  }

  /** All three ways of reading a pool's capacity agree, and every number in them is a sane count. */
  async capacityAgrees(poolId: string): Promise<readonly Loose[]> {
    const as = { tenantId: "t-own" };
    const { capacity } = await this.call("capacity.byPool", { ...as, poolId });
    const twin = await this.call("pools.capacity", { ...as, poolId });
    const { pools } = await this.call("capacity.summary", as);
    const summed = pools.find((pool) => pool.poolId === poolId)?.capacity;
    if (JSON.stringify([capacity, capacity]) !== JSON.stringify([twin.capacity, summed]))
      throw new Error("capacity reads disagree");
    for (const { resource, updatedAt, ...counts } of capacity)
      for (const [name, count] of Object.entries(counts))
        if (!Number.isInteger(count) || count < 0 || (name !== "total" && count > counts.total))
          throw new Error(`${resource}.${name} is ${count} at ${updatedAt}`);
    return capacity;
  }
}

/** A create input as the contract parses it, for what takes it parsed. */
export function parsedWish(
  given: Partial<Input<"reservations.create">> = {},
): Input<"reservations.create"> {
  return {
    tenantId: "t-a",
    poolId: "pool_00000000000000000000000000",
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
    binding: "hold",
    idempotencyKey: "k",
    ...given,
  };
}
