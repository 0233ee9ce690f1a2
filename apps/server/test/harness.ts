/**
 * Real servers for tests: in this process or in processes of their own, on a cloned database, spoken to
 * through the published client and plain HTTP. Everything that is started is stopped by its `stop`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { OidcClock } from "@berth/api";
import { type Berth, createBerth } from "@berth/client";
import type { MethodName, RawInput, Role } from "@berth/contract";
import { type ManualClock, type TestDatabase, manualClock, testDatabase } from "@berth/db/testing";
import { afterAll, expect } from "vitest";
import { type Config, createLog, examine, readConfig, serve } from "../src/index.ts";
import { canary, createCanaries } from "./canary/canaries.ts";
import { lineByLine } from "./canary/lines.ts";
import { record } from "./canary/recorder.ts";

/** The first key of every test database; a fleet-admin's. */
export const ADMIN_KEY = "test-admin-key-0123456789abcdefghijklmnop";
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/**
 * Of everything that the tests of a file are answered, and that the servers which they start log: a tenant that was
 * told of another fails the file. What the harness makes for a tenant carries the tenant's mark.
 */
export const canaries = createCanaries();
canaries.knows(ADMIN_KEY, { tenantId: "platform", role: "fleet-admin" });
record(canaries);
afterAll(() => canaries.expectNone());

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; null for an empty body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface HttpOptions {
  /** Null = none. Default: the admin's. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, in place of the input as JSON. */
  readonly raw?: string;
}

/** Callers of one or several servers on one database. */
export interface Actors {
  /** A fleet-admin. */
  readonly admin: Berth;
  /** A client of this tenant and role; the same one each time. The tenant is made when it is missing. */
  as(tenantId: string, role?: Role): Promise<Berth>;
  /** The token behind `as`. */
  token(tenantId: string, role?: Role): Promise<string>;
  /** Plain HTTP: `POST /api/compute/{group}/{method}`. */
  http(
    method: MethodName | (string & {}),
    input: unknown,
    options?: HttpOptions,
  ): Promise<HttpAnswer>;
  /** Makes a pool as described; tenants, site, nodes and offers with it. */
  fleet(shape: PoolShape): Promise<Fleet>;
}

export interface TestServer extends Actors {
  readonly url: string;
  readonly database: TestDatabase;
  /** Null when the server runs on the real clock. */
  readonly clock: ManualClock | null;
  /** Every invariant, recomputed; fails the test with the report when one does not hold. */
  expectHealthy(): Promise<void>;
  /** Stops the server and leaves the database, with nobody connected to it. */
  stopServing(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** A database to join; without one the server has its own and drops it at the end. */
  readonly database?: TestDatabase;
  /** True = stopped at the present; a number = stopped there. Only with a database of its own. */
  readonly clock?: boolean | number;
  readonly config?: Partial<Config>;
  /** What tokens of an issuer are held against; default: the real clocks. */
  readonly signInClock?: OidcClock;
  /** A built console to serve; default: none, whatever is built in this tree. */
  readonly consoleFolder?: string;
  /** Takes the lines that the server logs. */
  readonly lines?: string[];
}

/** A server in this process, on any free port. */
export async function startServer(options: StartOptions = {}): Promise<TestServer> {
  const database = options.database ?? (await testDatabase());
  const clock = await clockOf(database, options);
  const keep = (line: string): void => {
    canaries.inspectLine(line);
    options.lines?.push(line);
  };
  const running = await serve(testConfig(database.url, options.config), {
    log: createLog("info", { write: lineByLine(keep) }),
    signInClock: options.signInClock,
    consoleFolder: options.consoleFolder ?? "not-built",
  });
  return {
    url: running.url,
    database,
    clock,
    ...actors(running.url),
    expectHealthy: () => expectHealthy(database.url),
    stopServing: () => running.stop(),
    async stop() {
      await running.stop();
      if (clock) await clock.close();
      if (!options.database) await database.close();
    },
  };
}

async function clockOf(
  database: TestDatabase,
  { clock }: StartOptions,
): Promise<ManualClock | null> {
  if (clock === undefined || clock === false) return null;
  return manualClock(database.url, clock === true ? Date.now() : clock);
}

function testConfig(databaseUrl: string, overrides: Partial<Config> = {}): Config {
  const base = readConfig({
    DATABASE_URL: databaseUrl,
    PORT: "0",
    LOG_LEVEL: "silent",
    BERTH_BOOTSTRAP_TOKEN: ADMIN_KEY,
    BERTH_PLATFORM_ORG: "platform",
    BERTH_SEAL_KEY: "00".repeat(32),
  });
  return { ...base, ...overrides };
}

export interface SpawnedServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Callers of this very process. */
  readonly actors: Actors;
  /** What it wrote so far: JSON log lines, and lines for people. */
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves with how the process ended. */
  kill(signal?: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `berth serve` as a process of its own on this database, of this version or another's; resolves when it listens. */
export function spawnServer(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  main: string = MAIN,
): Promise<SpawnedServer> {
  const own = {
    DATABASE_URL: databaseUrl,
    BERTH_BOOTSTRAP_TOKEN: ADMIN_KEY,
    BERTH_PLATFORM_ORG: "platform",
  };
  return spawnServe(["serve"], { ...own, ...environment }, main);
}

/** `berth serve` with a database of its own in this folder. */
export function spawnEmbedded(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<SpawnedServer> {
  return spawnServe(["serve"], { BERTH_DATA_DIR: dataDir, ...environment });
}

async function spawnServe(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  main: string = MAIN,
): Promise<SpawnedServer> {
  const child = spawnBerth(args, { PORT: "0", ...environment }, main);
  const url = await listening(child);
  return {
    url,
    process: child.process,
    actors: actors(url),
    stdout: child.stdout,
    stderr: child.stderr,
    ended: child.ended,
    kill(signal = "SIGTERM") {
      child.process.kill(signal);
      return child.ended;
    },
  };
}

export interface SpawnedCommand {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
  /** Called with all of stderr so far whenever there is more. */
  onStderr(listener: (text: string) => void): void;
}

/** Any `berth` command, with this environment and nothing of ours beside the PATH. */
export function spawnBerth(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  main: string = MAIN,
): SpawnedCommand {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const listeners: ((text: string) => void)[] = [];
  const inspect = lineByLine(canaries.inspectLine);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    // What a command prints is for the one who runs it; a server's output is its log.
    if (args[0] === "serve") inspect(text);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    for (const listener of listeners) listener(err);
  });
  const ended = once(child, "close").then(([code, signal]): Ended => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    process: child,
    stdout: () => out,
    stderr: () => err,
    ended,
    onStderr: (listener) => void listeners.push(listener),
  };
}

async function listening(child: SpawnedCommand): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.onStderr((text) => {
    const url = /listens on (http:\S+)/.exec(text)?.[1];
    if (url !== undefined) resolve(url);
  });
  void child.ended.then(() => reject(new Error(`the server did not start:\n${child.stderr()}`)));
  return promise;
}

/** Callers of the server at `url`; keys they make are good on every server of its database. */
export function actors(url: string, adminToken: string = ADMIN_KEY): Actors {
  const admin = createBerth({ url, token: adminToken });
  const tokens = new Map<string, Promise<string>>();
  const clients = new Map<string, Promise<Berth>>();
  const makeToken = async (tenantId: string, role: Role) => {
    await ensureTenant(admin, tenantId);
    const name = `${role} ${canary(tenantId)}`;
    return (await admin.access.createKey({ tenantId, role, name })).secret;
  };
  const token = (tenantId: string, role: Role = "tenant-operator") =>
    remembered(tokens, `${tenantId} ${role}`, () => makeToken(tenantId, role));
  return {
    admin,
    token,
    as: (tenantId, role = "tenant-operator") =>
      remembered(clients, `${tenantId} ${role}`, async () =>
        createBerth({ url, token: await token(tenantId, role) }),
      ),
    http: (method, input, options = {}) =>
      post(`${url}/api/compute/${method.replace(".", "/")}`, input, {
        token: adminToken,
        ...options,
      }),
    fleet: (shape) => makeFleet(admin, shape),
  };
}

/** Makes the tenant unless it is there: a second `putTenant` could move it in the tree. */
async function ensureTenant(admin: Berth, tenantId: string): Promise<void> {
  const { tenants } = await admin.fleet.listTenants({});
  if (tenants.some((tenant) => tenant.tenantId === tenantId)) return;
  await admin.fleet.putTenant({ tenantId, name: canary(tenantId) });
}

function remembered<T>(
  known: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const before = known.get(key);
  if (before) return before;
  const made = make();
  known.set(key, made);
  return made;
}

async function post(url: string, input: unknown, options: HttpOptions): Promise<HttpAnswer> {
  const { token, headers = {}, raw } = options;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: raw ?? JSON.stringify(input),
  });
  const text = await response.text();
  const body = text === "" ? null : (JSON.parse(text) as HttpAnswer["body"]);
  return { status: response.status, headers: response.headers, body: body ?? {} };
}

type NodeInput = RawInput<"fleet.putNodes">["nodes"][number];

export interface PoolShape {
  readonly nodes: readonly NodeInput[];
  readonly owner: string;
  /** Who it is offered to, and with how much. */
  readonly offers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly policy?: RawInput<"pools.create">["policy"];
}

let poolsMade = 0;

/**
 * An exclusive pool of `nodes` healthy nodes with `gpus` GPUs each (one NVLink domain a node), owned by
 * t-own and offered to t-a, t-b and t-c with a gpu quota of 1,000 each.
 */
export function pool(nodes: number, gpus: number, parts: Partial<PoolShape> = {}): PoolShape {
  poolsMade += 1;
  const prefix = `p${poolsMade}`;
  return {
    owner: "t-own",
    offers: { "t-a": { gpu: 1_000 }, "t-b": { gpu: 1_000 }, "t-c": { gpu: 1_000 } },
    nodes: Array.from({ length: nodes }, (_, i) => node(`${prefix}-n${i}`, gpus)),
    ...parts,
  };
}

/** A node with `gpus` GPUs, 64 vCPUs and 512 GiB. */
export function node(name: string, gpus: number, parts: Partial<NodeInput> = {}): NodeInput {
  return {
    name,
    address: `${name}.test:22`,
    labels: { rack: "r1" },
    vcpu: 64,
    memoryGiB: 512,
    gpus: Array.from({ length: gpus }, (_, index) => ({
      uuid: `GPU-${name}-${index}`,
      index,
      model: "H100",
      memoryMiB: 81_920,
      nvlinkDomain: `${name}-nvl`,
    })),
    ...parts,
  };
}

export interface Fleet {
  readonly owner: string;
  readonly siteId: string;
  readonly poolId: string;
  /** In the order of the shape. */
  readonly nodeIds: readonly string[];
}

async function makeFleet(admin: Berth, shape: PoolShape): Promise<Fleet> {
  const { owner, offers, nodes } = shape;
  for (const tenantId of [owner, ...Object.keys(offers)]) await ensureTenant(admin, tenantId);
  const site = await admin.fleet.putSite({
    tenantId: owner,
    name: `site ${canary(owner)}`,
    region: "test",
  });
  const made = await admin.pools.create({
    tenantId: owner,
    siteId: site.id,
    class: "metal-host",
    gpuModel: "H100",
    ...(shape.policy ? { policy: shape.policy } : {}),
  });
  const put = await admin.fleet.putNodes({ siteId: site.id, poolId: made.id, nodes: [...nodes] });
  for (const [toTenantId, quota] of Object.entries(offers)) {
    await admin.pools.offer({ tenantId: owner, poolId: made.id, toTenantId, quota: { ...quota } });
  }
  return { owner, siteId: site.id, poolId: made.id, nodeIds: put.nodes.map(({ id }) => id) };
}

/** Fails with every violation spelled out. */
export async function expectHealthy(databaseUrl: string): Promise<void> {
  const { findings } = await examine(databaseUrl);
  expect(findings.flatMap(({ violations }) => violations.map(({ message }) => message))).toEqual(
    [],
  );
}
