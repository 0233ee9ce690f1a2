/** A body is JSON as everybody reads it, or it is refused; a batch has an end. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "../harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.token("t-a");
});
afterAll(() => server.stop());

interface Sent {
  readonly type?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(path: string, body: string | Uint8Array, { type, headers }: Sent = {}) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      ...(type === null ? {} : { "content-type": type ?? "application/json" }),
      ...headers,
    },
    // A string would be given a content type of its own.
    body: typeof body === "string" ? new TextEncoder().encode(body) : Uint8Array.from(body),
  });
  return { status: response.status, text: await response.text() };
}

const LIST = "/api/compute/pools/list";
const TRPC = "/trpc/pools.list";
const plain = JSON.stringify({ tenantId: "t-a" });
const enveloped = JSON.stringify({ json: { tenantId: "t-a" } });

describe("the media type", () => {
  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
  ])("%s is taken", async (type) => {
    expect((await send(LIST, plain, { type })).status).toBe(200);
    expect((await send(TRPC, enveloped, { type })).status).toBe(200);
  });

  it.each([
    null,
    "",
    "text/plain",
    "text/plain; application/json",
    "application/jsonp",
    "application/json-patch+json",
    "application/json\tx",
    ";application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
  ])("%j is refused", async (type) => {
    for (const [path, body] of [
      [LIST, plain],
      [TRPC, enveloped],
    ] as const) {
      const { status, text } = await send(path, body, { type });
      expect([path, status]).toEqual([path, 400]);
      expect(text).toContain('"code":"INVALID_INPUT"');
    }
  });

  it("a compressed body is refused without being unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1_048_576, " "));
    for (const path of [LIST, TRPC]) {
      const headers = { "content-encoding": "gzip" };
      const { status, text } = await send(path, bomb, { headers });
      expect(status).toBe(400);
      expect(text).toContain("compressed");
    }
  });
});

const utf8 = (text: string) => new TextEncoder().encode(text);
const inTenant = (bytes: readonly number[]) =>
  Uint8Array.from([...utf8('{"tenantId":"'), ...bytes, ...utf8('"}')]);

describe("what parsers disagree about", () => {
  it.each([
    ["a name given twice", '{"tenantId":"t-b","tenantId":"t-a"}', "given twice"],
    ["a name given twice, once escaped", '{"tenantId":"t-b","tenant\\u0049d":"t-a"}', "twice"],
    ["a name given twice deep inside", '{"tenantId":"t-a","x":[{"a":1,"a":1}]}', "given twice"],
    ["a byte order mark", "\uFEFF" + plain, "byte order mark"],
    ["something behind it", plain + "{}", "not valid JSON"],
    ["a NUL behind it", plain + "\u0000", "not valid JSON"],
    ["a comment", '{"tenantId":"t-a"/* */}', "not valid JSON"],
    ["a comma too many", '{"tenantId":"t-a",}', "not valid JSON"],
    ["single quotes", "{'tenantId':'t-a'}", "not valid JSON"],
    ["NaN", '{"tenantId":"t-a","limit":NaN}', "not valid JSON"],
    ["a number that no double holds", '{"tenantId":"t-a","limit":1e400}', "too large"],
    ["half a text", '{"tenantId":"t-', "not valid JSON"],
    ["bytes that are no UTF-8", inTenant([0x74, 0xff, 0x61]), "not UTF-8"],
    ["an overlong slash", inTenant([0x74, 0xc0, 0xaf]), "not UTF-8"],
    ["UTF-8 of a surrogate", inTenant([0xed, 0xa0, 0x80]), "not UTF-8"],
    ["UTF-16", Uint8Array.from(Buffer.from(plain, "utf16le")), "not valid JSON"],
    ["a prototype", '{"tenantId":"t-a","__proto__":{"limit":1}}', "__proto__"],
    ["a prototype, escaped", '{"tenantId":"t-a","\\u005f_proto__":{}}', "__proto__"],
    ["a constructor", '{"a":{"constructor":{"prototype":{"b":1}}}}', "constructor"],
  ])("%s is refused, in the same words on both surfaces", async (_what, body, words) => {
    const answers = await Promise.all([LIST, TRPC].map((path) => send(path, body)));
    for (const { status, text } of answers) {
      expect(status).toBe(400);
      expect(text).toContain(words);
    }
  });

  it.each([
    ["a name given twice", '{"json":{"tenantId":"t-b","tenantId":"t-a"}}', "given twice"],
    ["a number that no double holds", '{"json":{"tenantId":"t-a","limit":1e400}}', "too large"],
    ["a prototype", '{"json":{"tenantId":"t-a","__proto__":{}}}', "__proto__"],
    ["half a text", '{"json":{"tenantId":"t-', "not valid JSON"],
  ])("%s is refused in an address, too", async (_what, input, words) => {
    const query = new URLSearchParams({ input }).toString();
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const response = await fetch(`${server.url}${TRPC}?${query}`, { headers });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(words);
  });

  it("10,000 levels are refused, and the same each time", async () => {
    const deep = `{"tenantId":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    const first = await send(LIST, deep);
    expect(first.status).toBe(400);
    expect((await send(LIST, deep)).status).toBe(400);
    expect((await send(TRPC, `{"json":${deep}}`)).status).toBe(400);
  });

  it("text with quotes, colons and backslashes in it is JSON like any other", async () => {
    const name = 'a\\":\\" b \\\\';
    const { status, text } = await send(
      "/api/compute/fleet/putTenant",
      `{"tenantId":"t-q", "name" : "${name}"}`,
    );
    expect([status, text]).toEqual([200, expect.stringContaining(name)]);
  });
});

describe("a body that holds too much", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",");

  // What follows is no JSON: whoever had parsed it would say that.
  it.each([
    ["70,000 names", LIST, `{${names(70_000)}, no`, /more than 128 fields/],
    ["70,000 names in an envelope", TRPC, `{"json":{${names(70_000)}, no`, /more than 1000 fields/],
    ["500,000 lists in one another", LIST, "[".repeat(500_000), /more than 20000 values/],
    ["300,000 objects in a list", LIST, `[${"{},".repeat(300_000)}no`, /more than 1000 entries/],
    [
      "a batch of 50 with 990 names each",
      "/trpc/pools.list,pools.list",
      `{${Array.from({ length: 50 }, (_, at) => `"${at}":{"json":{${names(990)}}}`).join(",")}, no`,
      /more than 40000 values/,
    ],
    [
      "90,000 names, no two alike, in objects of 100",
      "/trpc/fleet.putNodes",
      `{"json":{"nodes":[${Array.from({ length: 900 }, (_, at) => `{${names(100).replaceAll("k", `k${at}.`)}}`).join(",")}, no`,
      /more than 40000 different names/,
    ],
  ])("%s is refused by its number, and never parsed", async (_what, path, body, says) => {
    const { status, text } = await send(path, body);
    expect(status).toBe(400);
    expect(text).toMatch(says);
  });
});

describe("a batch", () => {
  const batch = (size: number, body: string, path = Array(size).fill("access.whoami").join(",")) =>
    send(`/trpc/${path}?batch=1`, body);
  const inputs = (size: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, i) => [i, { json: {} }])));

  it("of 50 runs; of 51, or of 5,000 commas, none of its calls does", async () => {
    expect((await batch(50, inputs(50))).status).toBe(200);
    expect((await batch(51, inputs(51))).status).toBe(400);
    const commas = await batch(0, "{}", ",".repeat(3_000));
    expect(commas.status).toBe(400);
    expect((await batch(0, "{}", ",".repeat(5_000))).status).toBe(404);
  });

  it("of 50 with 20 kB each is as large as a body may be, and no larger", async () => {
    const input = { json: { tenantId: "t-a", projectId: "x".repeat(20_000) } };
    const body = JSON.stringify(
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [i, input])),
    );
    const path = Array(50).fill("pools.list").join(",");
    expect(body.length).toBeLessThan(1_048_576);
    expect((await send(`/trpc/${path}?batch=1`, body)).status).toBe(400);
    const more = JSON.stringify({
      ...(JSON.parse(body) as object),
      50: { json: "x".repeat(50_000) },
    });
    expect((await send(`/trpc/${path}?batch=1`, more)).status).toBe(413);
  });

  it("that gives one call two inputs is refused", async () => {
    const { status, text } = await batch(2, '{"0":{"json":{}},"1":{"json":{}},"0":{"json":{}}}');
    expect(status).toBe(400);
    expect(text).toContain("given twice");
  });

  it("of the longest names has a path that is read, by GET as well", async () => {
    const path = Array(50).fill("capacity.timeline").join(",");
    const response = await fetch(`${server.url}/trpc/${path}?batch=1&input=%7B%7D`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toHaveLength(50);
  });
});
