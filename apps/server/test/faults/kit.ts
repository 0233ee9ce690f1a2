/**
 * What every fault test is made of: a run that prints its counts, its seed and how to repeat it; servers in
 * processes of their own; a way in that fails over; and the look afterwards. The load is `load.ts`.
 */
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { relative } from "node:path";
import type { TestDatabase } from "@berth/db/testing";
import { expect } from "vitest";
import { type SpawnedServer, expectHealthy, spawnServer } from "../harness.ts";
import type { Load } from "./load.ts";
import { METRICS, counter } from "./together.ts";

export interface FaultRun {
  /** How often the fault is to happen: the CI's count, times FAULT_TIMES. */
  readonly count: number;
  readonly seed: number;
  /** In [0,1), by the seed. */
  random(): number;
}

/**
 * Does `work`, which answers what it counted, and prints that in one line with the seed. When it fails the
 * line says how to do the same again.
 */
export async function faultRun(
  id: string,
  times: number,
  work: (run: FaultRun) => Promise<string>,
): Promise<void> {
  const factor = Number(process.env["FAULT_TIMES"] ?? "1");
  const seed = Number(process.env["FAULT_SEED"] ?? Math.trunc(Math.random() * 1e9));
  const started = performance.now();
  const run = { count: Math.ceil(times * factor), seed, random: seeded(seed) };
  try {
    const line = await work(run);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    process.stdout.write(`${id}: ${line}, seed ${seed}, ${seconds} s\n`);
  } catch (error) {
    const file = relative(process.cwd(), expect.getState().testPath ?? "");
    process.stdout.write(
      `${id} failed: FAULT_SEED=${seed} FAULT_TIMES=${factor} npx -y pnpm@10.34.8 faults ${file}\n`,
    );
    throw error;
  }
}

/** Mulberry32: small, and the same everywhere. */
export function seeded(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Environment = Readonly<Record<string, string>>;

/** A server for fault tests: metrics on, nobody limited. Its URL may be a fault proxy's. */
export function startVictim(databaseUrl: string, environment: Environment = {}) {
  return spawnServer(databaseUrl, {
    ...METRICS,
    BERTH_RATE_LIMIT: "1000000000",
    BERTH_ADDRESS_RATE_LIMIT: "1000000000",
    LOG_LEVEL: "warn",
    ...environment,
  });
}

/** What a process prints when it dies of a fault of ours. */
const CRASH = /uncaught|unhandled|ERR_UNHANDLED|FATAL ERROR|\n {4}at /i;

/** Nothing that nobody caught, in anything that the server has written. */
export function expectNoCrash(server: Pick<SpawnedServer, "stdout" | "stderr">): void {
  const written = `${server.stdout()}\n${server.stderr()}`;
  const lines = written.split("\n").filter((line) => CRASH.test(`\n${line}`));
  expect(lines).toEqual([]);
}

export interface Look {
  readonly database: TestDatabase;
  readonly load?: Load;
  /** Every server of the test, dead ones too. */
  readonly servers?: readonly SpawnedServer[];
}

/** What a server logs when the database refuses what it planned: those that are dead have no metrics to ask. */
const REFUSED = "the database refused a planned batch";

/**
 * After a fault: every invariant holds, every acknowledged call is kept and nothing is half there, nobody has
 * crashed, and the database never had to refuse what was planned.
 */
export async function expectSound({ database, load, servers = [] }: Look): Promise<void> {
  for (const server of servers) {
    expectNoCrash(server);
    expect(server.stdout()).not.toContain(REFUSED);
    const { exitCode, signalCode } = server.process;
    if (exitCode === null && signalCode === null)
      expect(await counter(server.url, "berth_violations_total")).toBe(0);
  }
  if (load) await load.expectKept(database);
  await expectHealthy(database.url);
}

export interface Balancer {
  readonly url: string;
  /** Connections made to that server so far. */
  connections(server: Pick<SpawnedServer, "url">): number;
  close(): Promise<void>;
}

/**
 * What stands in front of servers where they run: each connection goes to the next of them that takes it. For
 * other servers there is another one: connections stay where they are.
 */
export async function balancer(
  ...servers: readonly Pick<SpawnedServer, "url">[]
): Promise<Balancer> {
  const made = new Map(servers.map(({ url }) => [url, 0]));
  const open = new Set<Socket>();
  let turn = 0;
  const front = createServer((client) => {
    open.add(client);
    client.on("error", () => client.destroy()).on("close", () => open.delete(client));
    const inTurn = servers.map((_, i) => servers[(turn + i) % servers.length]?.url ?? "");
    turn += 1;
    dial(client, inTurn, (url) => made.set(url, (made.get(url) ?? 0) + 1));
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    connections: ({ url }) => made.get(url) ?? 0,
    async close() {
      for (const client of open) client.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

function dial(
  client: Socket,
  [url, ...others]: readonly string[],
  onMade: (url: string) => void,
): void {
  if (url === undefined) return void client.destroy();
  const { hostname, port } = new URL(url);
  let connected = false;
  const target = connect(Number(port), hostname, () => {
    connected = true;
    onMade(url);
    client.pipe(target).pipe(client);
  });
  target.on("error", () => (connected ? client.destroy() : dial(client, others, onMade)));
  target.on("close", () => connected && client.destroy());
  client.on("close", () => target.destroy());
}
