/** On a real HTTP server whose calls are held until the test lets them go. */
import { once } from "node:events";
import Fastify from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { CALLS_LAST, CALLS_MAX, LATE_MS, createAdmission } from "../../src/http/admission.ts";
import { recordOf } from "../../src/http/calls.ts";

const METHOD = "reservations.create";
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Ask {
  /** Null: not known before it is asked. */
  readonly tenant: string | null;
  readonly method?: string;
  readonly calls?: number;
  /** Nobody knows it in the end either. */
  readonly stranger?: boolean;
}

async function server({ busy }: { readonly busy: boolean }) {
  let now = 0;
  const admission = createAdmission({
    busy: () => busy,
    elapsed: () => now,
    stop: () => undefined,
  });
  const app = Fastify();
  app.decorateRequest("calls");
  app.decorateRequest("turn", null);
  app.setErrorHandler((_error, _request, reply) => reply.code(503).send());
  app.addHook("onSend", (request, reply, payload) => {
    request.turn?.end(reply.statusCode);
    return Promise.resolve(payload);
  });
  const held: { go(): void; rest(): () => void }[] = [];
  const { promise: letAllGo, resolve } = Promise.withResolvers<void>();
  app.get("/", async (request, reply) => {
    const {
      tenant,
      method = METHOD,
      calls = 1,
      stranger = false,
    } = JSON.parse(String(request.headers["x-ask"])) as Ask;
    request.calls = Array.from({ length: calls }, () => recordOf(method));
    admission.enter(request, reply, tenant);
    if (tenant === null && !stranger) admission.recognize(request, reply, "newcomer");
    const { promise, resolve: go } = Promise.withResolvers<void>();
    reply.raw.once("close", () => app.server.emit("over"));
    held.push({ go, rest: () => request.turn?.resting() ?? (() => undefined) });
    app.server.emit("held");
    await Promise.race([promise, letAllGo]);
    return "answered";
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  closing.push(() => {
    resolve();
    return app.close();
  });
  const call = (ask: Ask, signal?: AbortSignal) =>
    fetch(url, { headers: { "x-ask": JSON.stringify(ask) }, ...(signal ? { signal } : {}) });
  /** Resolves when the call is in work. */
  const hold = async (ask: Ask, signal?: AbortSignal) => {
    const began = once(app.server, "held");
    const status = call(ask, signal).then((answer) => answer.status);
    status.catch(() => undefined);
    await began;
    return { status };
  };
  const fill = async (ask: Ask, calls: number) => {
    for (let n = 0; n < calls; n += 1) await hold(ask);
  };
  /** Resolves when the server knows that a call is over. */
  const over = () => once(app.server, "over");
  const wait = (ms: number): void => void (now += ms);
  return { call, hold, fill, wait, held, over };
}

/** A process that does not keep up; all its calls are of tenant `a`. */
async function flooded() {
  const world = await server({ busy: true });
  await world.fill({ tenant: "a" }, CALLS_MAX + 1);
  world.wait(LATE_MS);
  return world;
}

it("lets everything in while the process has time, however much waits and for however long", async () => {
  const { fill, wait } = await server({ busy: false });
  await fill({ tenant: "a" }, CALLS_LAST);
  wait(LATE_MS);
  await fill({ tenant: "a" }, 1);
});

it("lets many at once in while the oldest of them is young", async () => {
  const { call, fill, wait, held, over } = await server({ busy: true });
  await fill({ tenant: "a" }, CALLS_MAX);
  wait(LATE_MS - 1);
  await fill({ tenant: "a" }, CALLS_MAX);
  wait(1);
  expect((await call({ tenant: "a" })).status).toBe(503);
  for (const { go } of held.splice(0, CALLS_MAX)) {
    const answered = over();
    go();
    await answered;
  }
  // As many as before, and none of them old.
  await fill({ tenant: "a" }, CALLS_MAX);
});

it("turns away who has a share of a flood, and nobody who has none", async () => {
  const { call, hold, held } = await flooded();
  expect((await call({ tenant: "a" })).status).toBe(503);
  const { status } = await hold({ tenant: "b" });
  held.at(-1)?.go();
  expect(await status).toBe(200);
});

describe("who is turned away", () => {
  type World = Awaited<ReturnType<typeof flooded>>;
  const told = async ({ call }: World, asks: number, ask: Ask = { tenant: "a" }) => {
    const answers = await Promise.all(Array.from({ length: asks }, () => call(ask)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    return answers.map(({ headers }) => Number(headers.get("retry-after"))).sort((a, b) => a - b);
  };
  const each = (seconds: number, calls: number) => Array<number>(calls).fill(seconds);
  /** So many calls of `a` are answered and as many come. */
  const answer = async ({ fill, held, over }: World, calls: number) => {
    await fill({ tenant: "b" }, calls);
    for (const { go } of held.splice(-calls)) {
      const answered = over();
      go();
      await answered;
    }
  };

  it("is asked back one after the other, as many a second as were answered in the last", async () => {
    const world = await flooded();
    // 65 are in work and nothing was answered yet: 64 a second, and nobody is told to wait for more than thirty.
    const later = Array.from({ length: 27 }, (_, i) => each(i + 3, 64));
    expect(await told(world, 64 * 29)).toEqual([each(2, 63), ...later, each(30, 65)].flat());
    // A second in which 32 were answered, so that each second asks back half as many.
    world.wait(40_000);
    await told(world, 1);
    await answer(world, 32);
    world.wait(1_000);
    expect(await told(world, 63)).toEqual([...each(3, 31), ...each(4, 32)]);
  });

  it("counts with each of its calls", async () => {
    const world = await flooded();
    expect(await told(world, 4, { tenant: "a", calls: 50 })).toEqual([2, 3, 4, 5]);
  });

  it("waits behind its own tenant's calls and not behind another's", async () => {
    const world = await flooded();
    await world.fill({ tenant: "b" }, 32);
    await told(world, 640);
    expect(await told(world, 1, { tenant: "b" })).toEqual([2]);
  });

  it("is told no less for those who hang up or are turned away in their turn", async () => {
    const world = await flooded();
    await told(world, 1);
    for (let n = 0; n < 32; n += 1) {
      const leaving = new AbortController();
      await world.hold({ tenant: "b" }, leaving.signal);
      const gone = world.over();
      leaving.abort();
      await gone;
    }
    world.wait(1_000);
    expect(await told(world, 1)).toEqual([30]);
  });
});

it("gives each of two tenants half, and takes more of one when its others are answered", async () => {
  const { call, fill, held, over } = await flooded();
  await fill({ tenant: "b" }, CALLS_MAX / 2);
  expect((await call({ tenant: "b" })).status).toBe(503);
  for (const { go } of held.splice(0, CALLS_MAX / 2 + 2)) {
    const answered = over();
    go();
    await answered;
  }
  await fill({ tenant: "a" }, 1);
  expect((await call({ tenant: "b" })).status).toBe(503);
});

it("forgets the calls of who hangs up", async () => {
  const { call, fill, hold, over } = await flooded();
  const gone = [new AbortController(), new AbortController()];
  for (const { signal } of gone) await hold({ tenant: "b" }, signal);
  expect((await call({ tenant: "a" })).status).toBe(503);
  for (const controller of gone) {
    const left = over();
    controller.abort();
    await left;
  }
  for (const tenant of ["b", "c", "d"]) await fill({ tenant }, CALLS_MAX / 4);
  expect((await call({ tenant: "b" })).status).toBe(503);
});

it("asks nobody new who they are past the last bound", async () => {
  const { call, fill, wait } = await server({ busy: true });
  for (let n = 0; n < CALLS_LAST; n += 1) await fill({ tenant: `t${n}` }, 1);
  wait(LATE_MS);
  expect((await call({ tenant: null })).status).toBe(503);
});

it("counts each call of a batch, and neither a stream nor a call that waits for room", async () => {
  const { call, hold, fill, wait, held } = await server({ busy: true });
  await fill({ tenant: "a", method: "reservations.watch" }, CALLS_LAST);
  const resumes: (() => void)[] = [];
  for (let n = 0; n < CALLS_MAX; n += 1) {
    await hold({ tenant: "a" });
    resumes.push(held.at(-1)?.rest() ?? (() => undefined));
  }
  wait(LATE_MS);
  // Whoever rests is old, and is not looked at; who was resumed begins anew.
  await hold({ tenant: "a", calls: CALLS_MAX - 1 });
  await fill({ tenant: "a" }, 2);
  wait(LATE_MS - 1);
  for (const resume of resumes) resume();
  await fill({ tenant: "a" }, 1);
  wait(1);
  expect((await call({ tenant: "a" })).status).toBe(503);
});

it("takes a call of who only waited for room, whatever others do", async () => {
  const { fill, hold, wait, held } = await server({ busy: true });
  for (let n = 0; n < CALLS_MAX; n += 1) {
    await hold({ tenant: "waits" });
    held.at(-1)?.rest();
  }
  await fill({ tenant: "floods" }, CALLS_MAX + 1);
  wait(LATE_MS);
  await fill({ tenant: "waits" }, 1);
});

it("counts a batch of a stranger as one call", async () => {
  const { fill, wait } = await server({ busy: true });
  await fill({ tenant: null, stranger: true, calls: 50 }, CALLS_MAX - 2);
  wait(LATE_MS);
  await fill({ tenant: "a" }, 2);
  await fill({ tenant: "b" }, 1);
});
