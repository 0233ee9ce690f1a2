/**
 * A new connection first asks for the array types. What goes wrong then, with nobody's query at fault, once
 * ended the process (porsager/postgres#1192) or was told to the first query after it (#1223).
 */
import { type Socket, connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { type TestDatabase, testDatabase } from "./testing/index.ts";

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await testDatabase({ empty: true });
});
afterAll(() => test_.close());

/** An ErrorResponse of the wire protocol. */
function errorResponse(severity: string, code: string): Buffer {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0Mended by a test\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
const READY = Buffer.from([90, 0, 0, 0, 5, 73]);

/** In front of the database; does that to the first question for types, and passes everything else on. */
async function whereFirstTypes(act: (client: Socket) => void) {
  let asked = 0;
  const to = new URL(test_.url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => undefined));
    client.on("data", (chunk) => {
      if (!chunk.includes("pg_catalog.pg_type") || (asked += 1) > 1) upstream.write(chunk);
      else act(client);
    });
    upstream.pipe(client);
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(test_.url);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    asked: () => asked,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const FAULTS: readonly [string, (client: Socket) => void][] = [
  ["its process is ended", (client) => client.end(errorResponse("FATAL", "57P01"))],
  ["it is cut without a word", (client) => client.destroy()],
  ["it is cancelled", (c) => c.write(Buffer.concat([errorResponse("ERROR", "57014"), READY]))],
];

describe("a new connection that may not ask for types, because", () => {
  test.each(FAULTS)("%s", async (_why, act) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): unknown => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const proxy = await whereFirstTypes(act);
    const sql = createClient(proxy.url, { applicationName: "types", max: 1 });
    try {
      // The one whose connection it was may fail; nobody after it does, and arrays are arrays.
      await sql`select 1`.catch(() => undefined);
      const ask = () =>
        sql`select a from unnest(${["x", "y"]}::text[]) as a`.then((rows) => [...rows]);
      await expect.poll(() => ask().catch(String)).toEqual([{ a: "x" }, { a: "y" }]);
      expect(proxy.asked()).toBeGreaterThanOrEqual(2);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
      await sql.end({ timeout: 1 });
      proxy.close();
    }
  });
});
