/** Waiting for room: handed over in order, never to whoever has just let go, never to whoever has gone; gangs whole. */
import { request } from "node:http";
import { createBerth, type Reservation } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import {
  type Asker,
  SECOND,
  asker,
  bookGpus,
  gpuRequest,
  outcome,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import { expectEmptyAfterRelease, gpuRow, usedBy } from "./invariants.ts";

// Two servers on one database, on the real clock: what is timed here is what a caller sees.
let server: TestServer;
let other: TestServer;
beforeAll(async () => {
  server = await startServer();
  other = await startServer({ database: server.database });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
});

const WAIT = { wait: { timeoutMs: 20_000 } };

async function inLine({ poolId }: Pick<Fleet, "poolId">): Promise<number> {
  const [row] = await server.database.sql<{ waiting: number }[]>`
    select count(*) as waiting from waiters where pool_id = ${poolId} and done_at is null`;
  return row?.waiting ?? 0;
}

/** What the call answered, and how long after `since` it did. */
interface Timed {
  readonly made: Reservation;
  readonly at: number;
}

/** Starts to wait; resolves once it is in line. */
async function waiting(
  who: Asker,
  fleet: Fleet,
  ask: () => Promise<Reservation> = () => bookGpus(who, 1, WAIT),
): Promise<{ readonly answer: Promise<Timed> }> {
  const before = await inLine(fleet);
  const answer = ask().then((made) => ({ made, at: performance.now() }));
  answer.catch(() => undefined);
  await expect.poll(() => inLine(fleet)).toBe(before + 1);
  return { answer };
}

/** The same tenant on the second server. */
async function elsewhere(who: Asker): Promise<Asker> {
  return {
    ...who,
    berth: createBerth({ url: other.url, token: await server.token(who.tenantId) }),
  };
}

/** Sends a create over plain HTTP and gives back how to cut its connection. */
async function httpCreate(who: Asker, body: object): Promise<{ cut(): void }> {
  const call = request(`${server.url}/api/compute/reservations/create`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await server.token(who.tenantId)}`,
      "content-type": "application/json",
    },
  });
  call.on("error", () => undefined);
  call.end(JSON.stringify(body));
  return { cut: () => call.destroy() };
}

describe("one GPU and two who wait for it", () => {
  it("goes to the first and then to the second, on whichever server they wait, each within a second", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const [a, b, c] = await three(fleet);
    const held = await bookGpus(a, 1);
    const onOther = await elsewhere(b);
    const first = await waiting(onOther, fleet);
    const second = await waiting(c, fleet);
    let released = performance.now();
    await release(a, held);
    const got = await first.answer;
    expect(got.made).toMatchObject({ tenantId: "t-b", state: "active" });
    expect(got.at - released).toBeLessThan(SECOND);
    expect(await inLine(fleet)).toBe(1);
    released = performance.now();
    await release(onOther, got.made);
    const next = await second.answer;
    expect(next.made).toMatchObject({ tenantId: "t-c", state: "active" });
    expect(next.at - released).toBeLessThan(SECOND);
    await expectEmptyAfterRelease(server, fleet);
  });

  it.each(["plain HTTP", "the client"])(
    "goes to the second when the first hung up over %s, and the first has nothing",
    async (surface) => {
      const fleet = await server.fleet(pool(1, 1));
      const [a, b, c] = await three(fleet);
      const held = await bookGpus(a, 1);
      const wish = { ...gpuRequest(b, 1, WAIT), idempotencyKey: "gone" };
      const hangUp = new AbortController();
      if (surface === "plain HTTP") {
        const call = await httpCreate(b, wish);
        hangUp.signal.addEventListener("abort", () => call.cut());
      } else {
        b.berth.reservations.create(wish, { signal: hangUp.signal }).catch(() => undefined);
      }
      await expect.poll(() => inLine(fleet)).toBe(1);
      const second = await waiting(c, fleet);
      hangUp.abort();
      await expect.poll(() => inLine(fleet)).toBe(1);
      const released = performance.now();
      await release(a, held);
      const got = await second.answer;
      expect(got.made.tenantId).toBe("t-c");
      expect(got.at - released).toBeLessThan(SECOND);
      expect(await usedBy(server, fleet, ["t-b", "gpu"])).toBe(0);
      const { reservations } = await b.berth.reservations.list({ tenantId: "t-b" });
      expect(reservations.filter(({ poolId }) => poolId === fleet.poolId)).toEqual([]);
      const again = await refusal(b.berth.reservations.create({ ...wish, wait: { timeoutMs: 0 } }));
      expect(again.code).toBe("NO_CAPACITY");
      await expectEmptyAfterRelease(server, fleet);
    },
  );

  it("is never taken back by the one that lets it go and books again at once", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const [a, b] = await three(fleet);
    let held: Reservation | null = await bookGpus(a, 1);
    const waits = await waiting(b, fleet);
    const codes: string[] = [];
    for (let round = 0; round < 50; round += 1) {
      if (held) await release(a, held);
      held = null;
      codes.push(await outcome(bookGpus(a, 1)));
    }
    const { made } = await waits.answer;
    expect(made.tenantId).toBe("t-b");
    expect(new Set(codes)).toEqual(new Set(["NO_CAPACITY"]));
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a wait of no time", () => {
  it("is answered at once", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const [a, b] = await three(fleet);
    await bookGpus(a, 1);
    const started = performance.now();
    const { code } = await refusal(bookGpus(b, 1, { wait: { timeoutMs: 0 } }));
    expect(code).toBe("NO_CAPACITY");
    expect(performance.now() - started).toBeLessThan(SECOND);
    expect(await inLine(fleet)).toBe(0);
  });
});

describe("a server that stops", () => {
  it("sends those who wait on it away, to be asked again, and leaves none of them in line", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const [a, b] = await three(fleet);
    const held = await bookGpus(a, 1);
    const third = await startServer({ database: server.database });
    const berth = createBerth({ url: third.url, token: await server.token("t-b"), maxRetries: 0 });
    const waits = await waiting({ ...b, berth }, fleet);
    await third.stop();
    expect((await refusal(waits.answer)).code).toBe("UNAVAILABLE");
    expect(await inLine(fleet)).toBe(0);
    await release(a, held);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("two gangs that want all of four machines", () => {
  const GANG = {
    gang: { size: 4 },
    devices: [{ class: "gpu" as const, count: 8 }],
  };

  it("at once are one gang and one refusal, thirty times over, and never a part of either", async () => {
    const fleet = await server.fleet(pool(4, 8));
    const askers = await three(fleet);
    const seen = watching(fleet);
    for (let round = 0; round < 30; round += 1) {
      const asked = await Promise.allSettled(
        askers.slice(0, 2).map((who) => bookGpus(who, 8, GANG)),
      );
      const made = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      expect(made).toHaveLength(1);
      const [gang] = made;
      expect(gang?.members).toHaveLength(4);
      expect(new Set(gang ? unitsOf(gang) : []).size).toBe(32);
      const loser = gang?.tenantId === "t-a" ? "t-b" : "t-a";
      expect(await usedBy(server, fleet, [loser, "gpu"])).toBe(0);
      const winner = askers.find(({ tenantId }) => tenantId === gang?.tenantId);
      if (gang && winner) await release(winner, gang);
    }
    expect(await seen.stop()).toEqual([0, 32]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("are served one after the other when the second one waits: all four machines, or none", async () => {
    const fleet = await server.fleet(pool(4, 8));
    const [a, b] = await three(fleet);
    const seen = watching(fleet);
    const first = await bookGpus(a, 8, GANG);
    const second = await waiting(b, fleet, () =>
      bookGpus(b, 8, { ...GANG, wait: { timeoutMs: 5_000 } }),
    );
    await release(a, first);
    const { made } = await second.answer;
    expect(made.members).toHaveLength(4);
    expect(new Set(unitsOf(made)).size).toBe(32);
    expect(await seen.stop()).toEqual([0, 32]);
    await expectEmptyAfterRelease(server, fleet);
  });
});

async function three(fleet: Fleet): Promise<[Asker, Asker, Asker]> {
  const [a, b, c] = ["t-a", "t-b", "t-c"].map((tenantId) => asker(server, tenantId, fleet));
  return Promise.all([a, b, c] as [Promise<Asker>, Promise<Asker>, Promise<Asker>]);
}

/** Reads how many GPUs are allocated, again and again; `stop` gives the distinct counts, in order. */
function watching(fleet: Fleet): { stop(): Promise<number[]> } {
  const counts = new Set([0]);
  let watched = true;
  const reading = (async () => {
    while (watched) counts.add((await gpuRow(server, fleet)).allocated);
  })();
  return {
    async stop() {
      watched = false;
      await reading;
      return [...counts].toSorted((x, y) => x - y);
    },
  };
}
