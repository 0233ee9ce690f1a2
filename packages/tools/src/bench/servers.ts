/** The system under test: one PostgreSQL as an installation has it, and server processes as an operator starts them. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { type RunningPostgres, openDatabase, startPostgres } from "@berth/db";
import { Caller } from "./caller.ts";
import type { Lane } from "./pairs.ts";

const MAIN = path.resolve(import.meta.dirname, "../../../../apps/server/src/main.ts");
/** As the operations page starts a server. */
const NODE_FLAGS = ["--max-semi-space-size=16"];
const START_MS = 240_000;
const PLATFORM = "platform";
const DATABASE = "berth";

export interface System {
  readonly postgres: RunningPostgres;
  /** Base URLs, in the order of their start. */
  readonly urls: string[];
  /** Where the servers' database is. */
  readonly databaseUrl: string;
  /** A fleet-admin key. */
  readonly token: string;
  /** Makes an empty database and answers its URL. */
  makeDatabase(name: string): Promise<string>;
  /** One more server process on the same database. */
  addServer(): Promise<void>;
  /** SIGKILL to one of them; resolves when another one listens in its place. */
  crash(server: number): Promise<void>;
  /** What a server's /metrics says, by name; of one that has labels, the sum. */
  metrics(server: number): Promise<ReadonlyMap<string, number>>;
  /** Ends the servers and leaves the database. */
  stopServers(): Promise<void>;
  stop(): Promise<void>;
}

/** @throws when the PostgreSQL would acknowledge what it has not written: such figures mean nothing */
export async function startSystem(): Promise<System> {
  const postgres = await startPostgres({ ephemeral: true });
  const processes: ChildProcess[] = [];
  const metricsToken = randomBytes(32).toString("hex");
  const urls: string[] = [];
  const token = randomBytes(32).toString("hex");
  // An interrupted run leaves no server behind; PostgreSQL ends with this process by itself.
  process.once("exit", () => processes.forEach((child) => child.kill()));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(130));
  const makeDatabase = async (name: string): Promise<string> => {
    const admin = openDatabase(postgres.url("postgres"), { connections: 1, writers: 1 });
    try {
      await assertDurable(admin);
      await admin.sql.unsafe(`create database ${name}`);
    } finally {
      await admin.close();
    }
    return postgres.url(name);
  };
  const stopServers = async (): Promise<void> => {
    await Promise.all(processes.map(stopProcess));
  };
  const stop = async (): Promise<void> => {
    await stopServers();
    await postgres.stop();
  };
  try {
    const databaseUrl = await makeDatabase(DATABASE);
    const secrets = { BERTH_BOOTSTRAP_TOKEN: token, BERTH_METRICS_TOKEN: metricsToken };
    const addServer = async (): Promise<void> => {
      const server = await startServer(databaseUrl, await freePort(), secrets);
      processes.push(server.process);
      urls.push(server.url);
    };
    const crash = async (at: number): Promise<void> => {
      const [old, url] = [processes[at], urls[at]];
      if (!old || url === undefined) throw new Error(`there is no server ${at}`);
      const ended = once(old, "exit");
      old.kill("SIGKILL");
      await ended;
      const next = await startServer(databaseUrl, Number(new URL(url).port), secrets);
      processes[at] = next.process;
    };
    const metrics = (at: number): Promise<ReadonlyMap<string, number>> =>
      readMetrics(urls[at] ?? "", metricsToken);
    const servers = { addServer, crash, metrics, stopServers, stop };
    return { postgres, urls, databaseUrl, token, makeDatabase, ...servers };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assertDurable({ sql }: ReturnType<typeof openDatabase>): Promise<void> {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') and setting <> 'on'`;
  if (rows.length > 0) throw new Error(`${rows.map((row) => row.name).join(", ")} must be on`);
}

async function startServer(
  databaseUrl: string,
  port: number,
  secrets: Readonly<Record<string, string>>,
): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, "serve"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      HOST: "127.0.0.1",
      ...secrets,
      BERTH_PLATFORM_ORG: PLATFORM,
      BERTH_RATE_LIMIT: "1000000000",
      BERTH_ADDRESS_RATE_LIMIT: "1000000000",
      LOG_LEVEL: "error",
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with status ${String(code)} before it was ready`);
  });
  await Promise.race([ready(url), ended]);
  ended.catch(() => undefined);
  return { process: child, url };
}

async function ready(url: string): Promise<void> {
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the server at ${url} was not ready after ${START_MS / 1000} s`);
}

async function readMetrics(url: string, token: string): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`/metrics answered ${answer.status}`);
  const sums = new Map<string, number>();
  for (const line of (await answer.text()).split("\n")) {
    const found = /^([a-z0-9_]+)(?:\{.*\})? (\S+)$/.exec(line);
    const [, name = "", value = ""] = found ?? [];
    if (found) sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

export interface FleetPlan {
  readonly name: string;
  readonly nodes: number;
  readonly pools: number;
}

const TENANTS = 8;
const GPUS = 8;
const NODES_PER_CALL = 100;

/** Tenants with a key each, to book as; made once. */
export async function makeTenants(system: System): Promise<{ tenantId: string; token: string }[]> {
  const admin = new Caller(systemUrl(system), system.token);
  const tenants: { tenantId: string; token: string }[] = [];
  for (let i = 0; i < TENANTS; i += 1) {
    const tenantId = `bench-${i}`;
    await admin.must("fleet.putTenant", { tenantId, name: tenantId });
    const made = await admin.must("access.createKey", {
      tenantId,
      role: "tenant-operator",
      name: "bench",
    });
    tenants.push({ tenantId, token: String(made["secret"]) });
  }
  admin.close();
  return tenants;
}

/** A site with its nodes spread evenly over pools that are offered to every tenant; answers the pools' ids. */
export async function makeFleet(system: System, plan: FleetPlan): Promise<string[]> {
  const admin = new Caller(systemUrl(system), system.token);
  const site = await admin.must("fleet.putSite", {
    tenantId: PLATFORM,
    name: plan.name,
    region: "bench",
  });
  const pools: string[] = [];
  const each = plan.nodes / plan.pools;
  for (let p = 0; p < plan.pools; p += 1) {
    const ask = { tenantId: PLATFORM, siteId: site["id"], class: "metal-host", gpuModel: "H100" };
    const { id: poolId } = await admin.must("pools.create", {
      ...ask,
      idempotencyKey: `${plan.name}-${p}`,
    });
    for (let from = 0; from < each; from += NODES_PER_CALL) {
      const nodes = Array.from({ length: Math.min(NODES_PER_CALL, each - from) }, (_, i) =>
        node(`n-${p}-${from + i}`),
      );
      await admin.must("fleet.putNodes", { siteId: site["id"], poolId, nodes });
    }
    for (let t = 0; t < TENANTS; t += 1) {
      const offer = {
        tenantId: PLATFORM,
        poolId,
        toTenantId: `bench-${t}`,
        quota: { gpu: 1_000_000 },
      };
      await admin.must("pools.offer", offer);
    }
    pools.push(String(poolId));
  }
  admin.close();
  return pools;
}

function node(name: string): object {
  const gpus = Array.from({ length: GPUS }, (_, index) => ({
    uuid: `${name}-gpu-${index}`,
    index,
    model: "H100",
    memoryMiB: 81_920,
    nvlinkDomain: "all",
  }));
  return { name, vcpu: 96, memoryGiB: 1_024, gpus };
}

function systemUrl({ urls: [first] }: System): string {
  if (first === undefined) throw new Error("no server was started");
  return first;
}

/** Callers spread over the first `servers` processes, the pools and the tenants. */
export function lanesOf(
  system: System,
  counts: { readonly callers: number; readonly servers: number },
  over: {
    readonly pools: readonly string[];
    readonly tenants: readonly { tenantId: string; token: string }[];
  },
): Lane[] {
  return Array.from({ length: counts.callers }, (_, i) => {
    const tenant = over.tenants[i % over.tenants.length];
    const url = system.urls[i % counts.servers];
    const poolId = over.pools[i % over.pools.length];
    if (tenant === undefined || url === undefined || poolId === undefined)
      throw new Error("nothing to call");
    return { ...tenant, url, poolId };
  });
}
