import { Cancelled } from "@berth/engine";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import superjson from "superjson";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi } from "./root.ts";
import { type TestApi, testApi } from "./testing/test-api.ts";

let it: TestApi;
beforeAll(async () => {
  it = await testApi();
});
afterAll(() => it.close());

/** One POST as tRPC's own client sends it. */
async function post(
  path: string,
  body: unknown,
  { token = it.admin, api = it.api }: { token?: string | null; api?: Api } = {},
) {
  const response = await fetchRequestHandler({
    endpoint: "/trpc",
    router: api.router,
    createContext: () => api.context({ token, requestId: "req-1" }),
    allowMethodOverride: true,
    req: new Request(`http://berth/trpc/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) as unknown };
}

type Answer = Awaited<ReturnType<typeof post>>;

/** The error as a client of superjson reads it. */
function errorOf({ json }: Answer): unknown {
  const { error } = json as { error: Parameters<typeof superjson.deserialize>[0] };
  return superjson.deserialize(error);
}

describe("over tRPC", () => {
  test("an answer is superjson, an error carries our model and no stack", async () => {
    const good = await post("access.whoami", superjson.serialize({}));
    expect(good).toMatchObject({
      status: 200,
      json: { result: { data: { json: { role: "fleet-admin" } } } },
    });
    const bad = await post("pools.list", superjson.serialize({}));
    expect(bad.status).toBe(400);
    const wire = errorOf(bad);
    expect(wire).toMatchObject({
      data: {
        code: "BAD_REQUEST",
        httpStatus: 400,
        path: "pools.list",
        berth: {
          code: "INVALID_INPUT",
          retryable: false,
          requestId: "req-1",
          issues: [{ path: ["tenantId"], message: "is missing" }],
          details: null,
        },
      },
    });
    expect(bad.text).not.toContain("stack");
  });

  test("hostile annotations are refused as input, and without a key as a stranger's", async () => {
    const body = {
      json: { tenantId: [] },
      meta: { values: { "tenantId.4294967294": ["undefined"] } },
    };
    expect(errorOf(await post("pools.list", body))).toMatchObject({
      data: { berth: { code: "INVALID_INPUT" } },
    });
    const stranger = await post("pools.list", body, { token: null });
    expect(errorOf(stranger)).toMatchObject({
      data: { berth: { code: "UNAUTHENTICATED" } },
    });
  });

  test("text that is no JSON is INVALID_INPUT, a path that is no method NOT_FOUND", async () => {
    expect((await post("pools.list", "{")).status).toBe(400);
    const unknown = await post("pools.nope", superjson.serialize({}));
    expect(errorOf(unknown)).toMatchObject({
      data: { httpStatus: 404, berth: { code: "NOT_FOUND" } },
    });
  });
});

describe("what goes wrong inside", () => {
  const secret = "tenant-secret-4711";

  async function failing(thrown: () => unknown) {
    it.lines.length = 0;
    const api = createApi({
      ...it.deps,
      access: {
        ...it.deps.access,
        decide: () => {
          throw thrown();
        },
      },
    });
    const answer = await post("access.listKeys", superjson.serialize({ tenantId: "platform" }), {
      api,
    });
    await api.stop();
    return { answer, log: JSON.stringify(it.lines) };
  }

  test("is INTERNAL with the request's id, and nothing of it crosses", async () => {
    const { answer, log } = await failing(() => new TypeError(`cannot read ${secret}`));
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("req-1");
    for (const word of [secret, "TypeError", ".ts", "stack"])
      expect(answer.text).not.toContain(word);
    expect(log).toContain("TypeError");
  });

  test("is logged of the driver without statement, parameters or row values", async () => {
    const error = await it.deps.db.sql`select ${secret}::int`.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    const { answer, log } = await failing(() => error);
    expect(answer.status).toBe(500);
    for (const text of [answer.text, log]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain("select");
    }
    expect(log).toContain("22P02");
  });

  test("is no warning, and no stack in the log, when the caller hung up", async () => {
    await failing(() => new Cancelled());
    expect(it.lines.map(({ level }) => level)).toEqual(["info"]);
    expect(JSON.stringify(it.lines)).not.toContain("stack");
  });

  test("is UNAVAILABLE and worth another try when the database is away", async () => {
    const away = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const { answer } = await failing(() => away);
    expect(answer.status).toBe(503);
    expect(errorOf(answer)).toMatchObject({
      data: { berth: { code: "UNAVAILABLE", retryable: true } },
    });
  });
});
