/** The programs in examples/http run as they are, and say nothing that is not in the OpenAPI document. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import type { Answer } from "../security/document/caller.ts";
import { createJudge } from "../security/document/judge.ts";
import { operationsOf, readDocument } from "../security/document/openapi.ts";

interface Exchange {
  readonly path: string;
  readonly body: string;
  readonly key: string | undefined;
  readonly answer: Answer;
}

let server: TestServer;
let fleet: Fleet;
let token: string;
let between: http.Server;
const heard: Exchange[] = [];

beforeAll(async () => {
  server = await startServer();
  fleet = await server.fleet(pool(1, 4));
  token = await server.token("t-a");
  between = http.createServer((request, response) => void forward(request, response));
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
});
beforeEach(() => void heard.splice(0));
afterAll(async () => {
  between.closeAllConnections();
  between.close();
  await server.stop();
});

/** Passes everything on, and keeps what was asked and answered. */
async function forward(from: http.IncomingMessage, to: http.ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of from) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  const { host: _, connection: __, ...headers } = from.headers;
  const answer = await fetch(`${server.url}${from.url}`, {
    method: from.method ?? "GET",
    headers: Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    body,
  });
  const text = await answer.text();
  const raw: unknown = JSON.parse(text);
  heard.push({
    path: from.url ?? "",
    body,
    key: from.headers["idempotency-key"] as string | undefined,
    answer: {
      surface: "json",
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      contentType: (answer.headers.get("content-type") ?? "").split(";")[0] ?? "",
      raw,
      output: answer.ok ? raw : undefined,
      error: answer.ok ? undefined : (raw as Answer["error"]),
    },
  });
  to.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
}

async function run(program: string, file: string, environment: Record<string, string> = {}) {
  const path = fileURLToPath(new URL(`../../../../examples/http/${file}`, import.meta.url));
  const child = spawn(program, [path], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      BERTH_URL: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
      BERTH_TOKEN: token,
      BERTH_TENANT: "t-a",
      BERTH_POOL: fleet.poolId,
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

/** What of the document its requests and their answers break. */
async function faults(): Promise<string[]> {
  const document = await readDocument(server.url);
  const judge = createJudge(document);
  const operations = operationsOf(document);
  return heard.flatMap(({ path, body, key, answer }) => {
    const operation = operations.find((each) => each.path === path);
    if (!operation) return [`${path} is not in the document`];
    // The header says what the body may leave to it.
    const input = { ...(JSON.parse(body) as object), ...(key ? { idempotencyKey: key } : {}) };
    return [
      ...(judge.allows(operation, input) ? [] : [`${path} does not take ${body}`]),
      ...judge.faultsOf(operation, answer),
    ];
  });
}

const METHODS = [
  "capacity/preview",
  "reservations/create",
  "reservations/get",
  "reservations/release",
];

describe.each([
  ["sh", "book.sh"],
  ["python3", "book.py"],
])("with %s, %s", (program, file) => {
  it("asks, books under a key, looks and gives back, all as the document says", async () => {
    const { code, out, err } = await run(program, file);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(heard.map(({ path }) => path)).toEqual(METHODS.map((name) => `/api/compute/${name}`));
    expect(heard[1]?.key).toMatch(/^book-/);
    expect(await faults()).toEqual([]);
    expect(out).toContain("released");
    expect(out).toMatch(/rsv_[0-9a-z]{26}/);
    const { body } = await server.http("reservations.get", {
      tenantId: "t-a",
      reservationId: heard[1]?.answer.raw ? (heard[1].answer.raw as { id: string }).id : "",
    });
    expect(body["state"]).toBe("released");
  });

  it("says what is wrong and ends with a status that says so", async () => {
    const { code, out, err } = await run(program, file, { BERTH_TENANT: "t-nobody" });
    expect(code).not.toBe(0);
    expect(out + err).toContain("NOT_FOUND");
    expect(heard).toHaveLength(1);
    expect(await faults()).toEqual([]);
  });
});
