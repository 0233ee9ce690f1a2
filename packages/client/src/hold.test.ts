import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ask, inTurn, rejection, told, withServer } from "../test/berth-on-wire.ts";
import { leased, startLeaseServer } from "../test/lease-server.ts";
import type { LeaseServer } from "../test/lease-server.ts";
import { isBerthError } from "./index.ts";
import type { Hold, ReleaseFailedInfo } from "./index.ts";

/** Timers and clocks are the test's; sockets are not. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets sockets do their work until it holds, without time going by. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("it never came");
}

/** Lets so much time go by, a little at a time, and what is called in between be answered. */
async function pass(server: LeaseServer, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    await vi.advanceTimersByTimeAsync(Math.min(left, 500));
    // A call that nobody answers is not waited for.
    for (let turn = 0; turn < 500 && (turn < 5 || server.isBusy()); turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The machine sleeps: the wall clock goes on, timers and the monotonic clock do not. */
const asleep = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** How often the method was called. */
const called = ({ arrived }: LeaseServer, name: string): number =>
  arrived.filter(({ method }) => method === `reservations.${name}`).length;

/** The loss, when there is one by now. */
async function lossOf(hold: Hold): Promise<unknown> {
  return Promise.race([
    hold.lost,
    new Promise((resolve) => setImmediate(() => resolve("still held"))),
  ]);
}

/** A hold that is booked, and waited for. */
async function begun(server: LeaseServer, signal?: AbortSignal) {
  let isHeld = false;
  const hold = server.berth.hold(leased, { signal });
  void hold.then(
    () => (isHeld = true),
    () => undefined,
  );
  await until(() => called(server, "create") === 1 && !server.isBusy());
  return { hold, isHeld: () => isHeld };
}

describe("a hold", () => {
  it("is renewed at a third of its lease, again and again, by a server whose clock is an hour off", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    await pass(server, 16_000);
    expect(called(server, "renew")).toBe(0);
    await pass(server, 4_500);
    expect(called(server, "renew")).toBe(1);
    await pass(server, 600_000);
    expect(called(server, "renew")).toBeGreaterThanOrEqual(30);
    expect(called(server, "renew")).toBeLessThanOrEqual(38);
    expect(hold.reservation.version).toBe(server.kept()?.version);
    expect(hold.signal.aborted).toBe(false);
    expect(await lossOf(hold)).toBe("still held");
    await hold.release();
  });

  it("asks for a lease of two minutes when the caller names none", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(ask);
    expect(hold.reservation.leaseSeconds).toBe(120);
    await hold.release();
  });

  it("is released on the way out of its block, and once", async () => {
    await using server = await startLeaseServer();
    {
      await using hold = await server.berth.hold(leased);
      expect(hold.reservation.state).toBe("active");
    }
    expect(server.kept()?.state).toBe("released");
    const hold = await server.berth.hold({ ...leased }).catch((error: unknown) => error);
    // The kit answers the reservation that there is, which is over.
    expect(isBerthError(hold, "HOLD_LOST") && hold.details.reason).toBe("released");
    expect(called(server, "release")).toBe(1);
  });

  it("is released once however often it is asked, and renewed no more", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    const [one, two] = await Promise.all([hold.release(), hold.release()]);
    expect(one).toBe(two);
    expect((await hold.release()).state).toBe("released");
    await hold[Symbol.asyncDispose]();
    await pass(server, 300_000);
    expect([called(server, "release"), called(server, "renew")]).toEqual([1, 0]);
    expect(await lossOf(hold)).toBe("still held");
    expect(hold.signal.aborted).toBe(false);
  });

  it.each(["terminated", "preempted", "completed"])(
    "that the server ends tells its holder: %s",
    async (state) => {
      await using server = await startLeaseServer();
      const hold = await server.berth.hold(leased);
      server.end(state);
      await pass(server, 25_000);
      const loss = await lossOf(hold);
      if (!isBerthError(loss, "HOLD_LOST")) throw new Error(String(loss));
      expect(loss.details.reason).toBe(state);
      expect(loss.message).toContain(`it is ${state}`);
      expect(loss.details.reservation.endedAt).not.toBeNull();
      expect(hold.signal.aborted).toBe(true);
      expect(hold.signal.reason).toBe(loss);
      // What is over is not released, and that is no error.
      expect((await hold.release()).state).toBe(state);
      expect(called(server, "release")).toBe(0);
    },
  );

  it("survives a server that is away for less than the lease", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    for (const reply of ["cut", { status: 503, berth: told("UNAVAILABLE") }] as const) {
      await pass(server, 10_000);
      server.instead("reservations.renew", reply);
      await pass(server, 40_000);
      server.instead("reservations.renew", null);
      await pass(server, 20_000);
      expect(await lossOf(hold)).toBe("still held");
    }
    expect(server.kept()?.state).toBe("active");
    await hold.release();
  });

  it("is lost when the server stays away, at the lease's end and not before", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    const renewedAt = Date.now();
    server.instead("reservations.renew", "cut");
    await pass(server, 55_000);
    expect(await lossOf(hold)).toBe("still held");
    await pass(server, 10_000);
    const loss = await lossOf(hold);
    if (!isBerthError(loss, "HOLD_LOST")) throw new Error(String(loss));
    expect(loss.details.reason).toBe("unreachable");
    expect(isBerthError(loss.cause, "NETWORK")).toBe(true);
    expect(Date.now() - renewedAt).toBeLessThan(66_000);
    // Whether the server has it still is not known: it is given back all the same.
    await hold.release();
    expect(called(server, "release")).toBe(1);
  });

  it("is lost as refused when its key is no longer good", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    server.instead("reservations.renew", { status: 401, berth: told("UNAUTHENTICATED") });
    await pass(server, 65_000);
    const loss = await lossOf(hold);
    if (!isBerthError(loss, "HOLD_LOST")) throw new Error(String(loss));
    expect(loss.details.reason).toBe("refused");
    expect(isBerthError(loss.cause, "UNAUTHENTICATED")).toBe(true);
    await hold.release();
  });

  it("is renewed first when the machine wakes up, and only then given up", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    // A short sleep: the lease has not ended, and the timer was not due yet.
    await pass(server, 5_000);
    asleep(40_000);
    await pass(server, 5_500);
    expect(called(server, "renew")).toBe(1);
    expect(await lossOf(hold)).toBe("still held");
    // A long one.
    asleep(600_000);
    await pass(server, 5_500);
    expect(called(server, "renew")).toBe(2);
    const loss = await lossOf(hold);
    expect(isBerthError(loss, "HOLD_LOST") && loss.details.reason).toBe("expired");
  });

  it("gives a machine that wakes up some seconds to find its network", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    // The server was away as well, and makes up for it: nobody's lease has run out.
    asleep(600_000);
    const kept = server.kept();
    if (kept) kept.leaseExpiresAt = server.now() + 30_000;
    server.instead("reservations.renew", "cut");
    await pass(server, 9_000);
    expect(called(server, "renew")).toBeGreaterThan(1);
    expect(await lossOf(hold)).toBe("still held");
    server.instead("reservations.renew", null);
    await pass(server, 3_000);
    expect(await lossOf(hold)).toBe("still held");
    await pass(server, 60_000);
    expect(server.kept()?.state).toBe("active");
    await hold.release();
  });

  it("is not given up because the wall clock is set back or forward", async () => {
    await using server = await startLeaseServer();
    const hold = await server.berth.hold(leased);
    // The kit's server shares the clock, so it is held to its own lease here.
    const kept = server.kept();
    for (const step of [-300_000, 300_000, -1_000]) {
      asleep(step);
      if (kept) kept.leaseExpiresAt = server.now() + 60_000;
      await pass(server, 30_000);
      expect(await lossOf(hold)).toBe("still held");
    }
    expect(called(server, "renew")).toBeGreaterThanOrEqual(3);
    await hold.release();
  });

  it("of the caller's own key is renewed at once: it may have been booked long ago", async () => {
    await using server = await startLeaseServer();
    await server.berth.reservations.create(leased, { idempotencyKey: "mine" });
    await pass(server, 50_000);
    const hold = await server.berth.hold(leased, { idempotencyKey: "mine" });
    await until(() => called(server, "renew") === 1);
    await pass(server, 30_000);
    expect(await lossOf(hold)).toBe("still held");
    await hold.release();
  });

  it("hands the caller's abort on to those who work with it, and stays held", async () => {
    await using server = await startLeaseServer();
    const controller = new AbortController();
    const hold = await server.berth.hold(leased, { signal: controller.signal });
    controller.abort("bye");
    expect(hold.signal.reason).toBe("bye");
    await pass(server, 30_000);
    expect(called(server, "renew")).toBeGreaterThan(0);
    await hold.release();
    const before = server.berth.hold(leased, { signal: AbortSignal.abort("before") });
    expect(await rejection(before)).toBe("before");
  });

  it("rejects as create does when there is no room", async () => {
    vi.useRealTimers();
    const details = { reason: { code: "BUSY", message: "m", blocked: [] }, earliestStart: 5 };
    const full = { status: 409, berth: told("NO_CAPACITY", { details }) };
    await withServer(inTurn(full), async (berth) => {
      const error = await rejection(berth.hold(ask));
      expect(isBerthError(error, "NO_CAPACITY") && error.earliestStart).toBe(5);
    });
  });
});

describe("a hold that begins later", () => {
  it("resolves when it is active, is looked at now and then, and renewed in time once it has begun", async () => {
    await using server = await startLeaseServer({ startsInMs: 1_500_000 });
    const { hold, isHeld } = await begun(server);
    await pass(server, 1_490_000);
    expect(isHeld()).toBe(false);
    expect(called(server, "renew")).toBeLessThanOrEqual(4);
    expect(called(server, "get")).toBe(0);
    await pass(server, 15_000);
    expect(isHeld()).toBe(true);
    const held = await hold;
    expect(held.reservation.state).toBe("active");
    await pass(server, 120_000);
    expect(await lossOf(held)).toBe("still held");
    await held.release();
  }, 30_000);

  it("waits for those who make way past its start, looking less and less often", async () => {
    await using server = await startLeaseServer({ startsInMs: 10_000, lateMs: 30_000 });
    const ran: string[] = [];
    const done = server.berth.withHold(leased, ({ reservation }) => {
      ran.push(reservation.state);
    });
    await pass(server, 38_000);
    expect(ran).toEqual([]);
    expect(called(server, "get")).toBeGreaterThan(2);
    expect(called(server, "get")).toBeLessThan(15);
    await pass(server, 14_000);
    await done;
    expect(ran).toEqual(["active"]);
    expect(server.kept()?.state).toBe("released");
  });

  it.each(["terminated", "preempted", "expired"])("and ends before is lost: %s", async (state) => {
    await using server = await startLeaseServer({ startsInMs: 20_000 });
    const { hold } = await begun(server);
    const thrown = rejection(hold);
    await pass(server, 5_000);
    server.end(state);
    await pass(server, 20_000);
    const loss = await thrown;
    expect(isBerthError(loss, "HOLD_LOST") && loss.details.reason).toBe(state);
    await pass(server, 100_000);
    expect([called(server, "release"), called(server, "renew")]).toEqual([0, 0]);
  });

  it("is given back when the caller aborts, who gets the reason", async () => {
    await using server = await startLeaseServer({ startsInMs: 20_000 });
    const controller = new AbortController();
    const { hold } = await begun(server, controller.signal);
    const thrown = rejection(hold);
    await pass(server, 5_000);
    controller.abort("bye");
    expect(await thrown).toBe("bye");
    expect(server.kept()?.state).toBe("released");
  });

  it("is waited for with the caller's own key as well, when the server's clock is not known", async () => {
    await using server = await startLeaseServer({ startsInMs: 100_000 });
    const hold = server.berth.hold({ ...leased, idempotencyKey: "mine" });
    await pass(server, 90_000);
    expect(called(server, "get")).toBeLessThan(15);
    await pass(server, 40_000);
    expect((await hold).reservation.state).toBe("active");
    await (await hold).release();
  });
});

describe("leaving a hold", () => {
  it("that cannot be released is told to the hook and hides no error of the body's", async () => {
    const failures: ReleaseFailedInfo[] = [];
    await using server = await startLeaseServer({
      maxRetries: 0,
      hooks: { onReleaseFailed: (info) => void failures.push(info) },
    });
    server.instead("reservations.release", "cut");
    const mine = new Error("the body's own");
    const body = async (): Promise<void> => {
      await using hold = await server.berth.hold(leased);
      expect(hold.reservation.id).toBe(server.kept()?.id);
      throw mine;
    };
    expect(await rejection(body())).toBe(mine);
    const within = server.berth.withHold(leased, () => {
      throw mine;
    });
    expect(await rejection(within)).toBe(mine);
    expect(failures.map(({ error }) => error.code)).toEqual(["NETWORK", "NETWORK"]);
    expect(failures[0]?.reservation.id).toBe(server.kept()?.id);
  });

  it("by hand says that it failed, and may be tried again", async () => {
    await using server = await startLeaseServer({ maxRetries: 0 });
    const hold = await server.berth.hold(leased);
    server.instead("reservations.release", "cut");
    expect(isBerthError(await rejection(hold.release()), "NETWORK")).toBe(true);
    server.instead("reservations.release", null);
    expect((await hold.release()).state).toBe("released");
  });

  it("takes no longer than ten seconds when nobody answers", async () => {
    const failures: ReleaseFailedInfo[] = [];
    await using server = await startLeaseServer({
      hooks: { onReleaseFailed: (info) => void failures.push(info) },
    });
    const hold = await server.berth.hold(leased);
    server.instead("reservations.release", "never");
    const left = hold[Symbol.asyncDispose]();
    await pass(server, 10_500);
    await left;
    expect(failures.map(({ error }) => error.code)).toEqual(["TIMEOUT"]);
  });
});

describe("withHold", () => {
  it("answers what the body answers and gives back what was held", async () => {
    await using server = await startLeaseServer();
    const answer = await server.berth.withHold(leased, async (hold) => {
      await Promise.resolve();
      return hold.reservation.id;
    });
    expect(answer).toBe(server.kept()?.id);
    expect(server.kept()?.state).toBe("released");
  });
});
