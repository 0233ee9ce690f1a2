import { describe, expect, it, vi } from "vitest";
import { rejection, tenantId, told } from "../test/berth-on-wire.ts";
import { refuse, startStreamServer } from "../test/stream-server.ts";
import type { Script } from "../test/stream-server.ts";
import { createBerth, isBerthError } from "./index.ts";
import type { BerthOptions, Event, Hooks } from "./index.ts";

const events = (...names: string[]): Script => {
  return (write, response) => {
    write.event("start", null);
    for (const name of names) write.event(name, { id: name, type: "tenant.put" });
    response.end();
  };
};
const stays: Script = (write) => write.event("start", null);
const unavailable = refuse(503, told("UNAVAILABLE", { retryable: true }));

/** Reads until there are so many, then leaves. */
async function take(count: number, url: string, options: Partial<BerthOptions> = {}) {
  const berth = createBerth({ url, token: "t", ...options });
  const ids: string[] = [];
  for await (const event of berth.reservations.watch({ tenantId })) {
    ids.push(event.id);
    if (ids.length === count) break;
  }
  return ids;
}

async function failure(url: string, options: Partial<BerthOptions> = {}): Promise<unknown> {
  return rejection(take(99, url, options));
}

describe("watch", () => {
  it("goes on after each kind of break with the id of the last event that was handed out", async () => {
    await using server = await startStreamServer(
      events("a", "b"),
      (write, response) => {
        write.event("c", { id: "c" });
        write.raw('data: {"json":{"id":"torn"}}\nid: torn\n');
        setImmediate(() => response.socket?.destroy());
      },
      unavailable,
      (_write, response) => void response.socket?.destroy(),
      (write) => {
        write.event("c2", null);
        write.event("d", { id: "d" });
      },
    );
    expect(await take(4, server.url)).toEqual(["a", "b", "c", "d"]);
    expect(server.opened.map(({ input }) => input.lastEventId)).toEqual([
      undefined,
      "b",
      "c",
      "c",
      "c",
    ]);
  });

  it("resumes at a sign of life when nothing happened before the break", async () => {
    await using server = await startStreamServer(events(), events("a"));
    expect(await take(1, server.url)).toEqual(["a"]);
    expect(server.opened[1]?.input).toEqual({ tenantId, lastEventId: "start" });
  });

  it("hands an event out once although it comes in pieces", async () => {
    const [head, tail] = ['data: {"json":{"id":"gr', 'ün"}}\nid: x\n\n'];
    await using server = await startStreamServer((write, response) => {
      const bytes = Buffer.from(tail);
      write.raw(head);
      response.write(bytes.subarray(0, 1));
      setImmediate(() => response.write(bytes.subarray(1)));
    });
    expect(await take(1, server.url)).toEqual(["grün"]);
  });

  it("asks for the token before every connection", async () => {
    let asked = 0;
    const token = () => `t${(asked += 1)}`;
    await using server = await startStreamServer(
      events("a"),
      (write, response) => {
        write.event("b", { id: "b" });
        write.error(told("UNAUTHENTICATED"));
        response.end();
      },
      events("c"),
    );
    expect(await take(3, server.url, { token })).toEqual(["a", "b", "c"]);
    expect(server.opened.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t2",
      "Bearer t3",
    ]);
  });

  it("ends with a key that is no longer good", async () => {
    await using ended = await startStreamServer((write) => {
      write.event("a", { id: "a" });
      write.error(told("UNAUTHENTICATED"));
    });
    expect(isBerthError(await failure(ended.url), "UNAUTHENTICATED")).toBe(true);
    await using refused = await startStreamServer(refuse(401, told("UNAUTHENTICATED")));
    const error = await failure(refused.url, { token: () => "t" });
    expect(isBerthError(error, "UNAUTHENTICATED")).toBe(true);
    expect([ended.opened.length, refused.opened.length]).toEqual([1, 1]);
  });

  it("ends with what another connection would meet as well, told before the stream or in it", async () => {
    for (const code of ["CURSOR_EXPIRED", "NOT_FOUND", "INTERNAL"] as const) {
      await using before = await startStreamServer(refuse(410, told(code)));
      await using within = await startStreamServer((write) => write.error(told(code)));
      for (const { url, opened } of [before, within]) {
        expect(isBerthError(await failure(url), code)).toBe(true);
        expect(opened).toHaveLength(1);
      }
    }
  });

  it("ends when what answers is no Berth server", async () => {
    await using server = await startStreamServer((_write, response) => response.end("<html>"));
    expect(isBerthError(await failure(server.url), "BAD_ANSWER")).toBe(true);
  });

  it("throws the reason of its signal, whether it waits for an event or for a server", async () => {
    for (const script of [stays, unavailable]) {
      await using server = await startStreamServer(script);
      const controller = new AbortController();
      const reason = new Error("enough");
      const berth = createBerth({ url: server.url, token: "t" });
      const walk = async (): Promise<void> => {
        const { signal } = controller;
        for await (const event of berth.reservations.watch({ tenantId }, { signal }))
          throw new Error(`there is no event ${event.id}`);
      };
      const walking = rejection(walk());
      await expect.poll(() => server.opened.length).toBeGreaterThan(0);
      controller.abort(reason);
      expect(await walking).toBe(reason);
      await server.opened[0]?.closed;
    }
  });

  it("closes its connection when the loop is left, and throws what a token function throws", async () => {
    await using server = await startStreamServer((write) => write.event("a", { id: "a" }));
    expect(await take(1, server.url)).toEqual(["a"]);
    await server.opened[0]?.closed;
    const lost = new Error("no token");
    const thrown = await failure(server.url, {
      token: () => {
        throw lost;
      },
    });
    expect(thrown).toBe(lost);
  });

  it("goes on after the event that it is told of, by its options as by its input", async () => {
    await using server = await startStreamServer(events("a"));
    const berth = createBerth({ url: server.url });
    for (const stream of [
      berth.reservations.watch({ tenantId }, { lastEventId: "x" }),
      berth.reservations.watch({ tenantId, lastEventId: "y" }, { lastEventId: "x" }),
    ])
      for await (const { id } of stream) {
        expect(id).toBe("a");
        break;
      }
    expect(server.opened.map(({ input }) => input.lastEventId)).toEqual(["x", "y"]);
  });

  it("tells its hooks of every connection, and names the client", async () => {
    await using server = await startStreamServer(events("a"), unavailable, events("b"));
    const lines: string[] = [];
    const hooks: Hooks = {
      onRequest: ({ headers, attempt }) => {
        headers["traceparent"] = `00-${attempt}`;
        lines.push(`request ${attempt}`);
      },
      onResponse: ({ attempt, status, error }) =>
        void lines.push(`response ${attempt} ${status} ${error?.code}`),
      onRetry: ({ attempt, error }) => void lines.push(`retry ${attempt} ${error.code}`),
    };
    expect(await take(2, server.url, { hooks })).toEqual(["a", "b"]);
    expect(lines).toEqual([
      ...["request 0", "response 0 200 undefined", "retry 1 NETWORK"],
      ...["request 1", "response 1 503 UNAVAILABLE", "retry 2 UNAVAILABLE"],
      ...["request 2", "response 2 200 undefined"],
    ]);
    const sent = server.opened.map(({ headers }) => headers);
    expect(sent.map((headers) => headers["traceparent"])).toEqual(["00-0", "00-1", "00-2"]);
    expect(sent.map((headers) => headers["berth-retry-count"])).toEqual([undefined, "1", "2"]);
    expect(sent[0]?.["berth-client"]).toMatch(/^@berth\/client\//);
  });

  it("takes a server that is silent for 45 s for gone, before the stream and in it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await using server = await startStreamServer(() => undefined, stays, events("a"));
      const seen = take(1, server.url);
      for (const connections of [1, 2]) {
        await vi.waitUntil(() => server.opened.length === connections, { interval: 1 });
        await vi.advanceTimersByTimeAsync(46_000);
        await server.opened[connections - 1]?.closed;
        await vi.advanceTimersByTimeAsync(1_000);
      }
      expect(await seen).toEqual(["a"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("tells events apart by their type", () => {
    const told = (event: Event): string =>
      event.type === "reservation.created" ? event.data.reservationId : event.type;
    expect(told({ type: "rollup.corrected", data: { rows: [] } } as unknown as Event)).toBe(
      "rollup.corrected",
    );
  });
});
