/** A real server for a file of tests, and the command line run against it: as a process, or in this one with streams. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Berth, createBerth } from "@berth/client";
import type { Io } from "../src/io.ts";
import { run } from "../src/run.ts";

export const BIN = fileURLToPath(new URL("../bin/berth.js", import.meta.url));

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface World {
  readonly url: string;
  readonly admin: Berth;
  readonly adminToken: string;
  /** The token of a tenant's operator; the tenant is `vision` unless it is another one of the example's. */
  token(tenantId?: string): string;
  /** The pool of this GPU model. */
  pool(model: string): string;
  /** Environment of the command line: this server, `vision`, and a folder of its own for what it keeps. */
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
  stop(): Promise<void>;
}

interface Ready {
  readonly url: string;
  readonly token: string;
  readonly fleet: {
    readonly tenants: Readonly<Record<string, string>>;
    readonly pools: readonly { readonly poolId: string; readonly gpuModel: string }[];
  };
}

/** Nodes with eight GPUs each, of one model, in one NVLink domain and with a VFIO group a GPU; two nodes a rack. */
export function nodes(model: string, count: number): object[] {
  return Array.from({ length: count }, (_, node) => ({
    name: `${model.toLowerCase()}-${node + 1}`,
    address: `10.0.0.${node + 1}`,
    labels: { rack: `r${Math.floor(node / 2) + 1}` },
    vcpu: 64,
    memoryGiB: 512,
    gpus: Array.from({ length: 8 }, (_each, index) => ({
      uuid: `GPU-${model}-${node}-${index}`,
      index,
      model,
      nvlinkDomain: `${model}-${node}`,
      vfioGroup: `${node * 8 + index}`,
    })),
  }));
}

/** `berth serve --ephemeral`, started by the very command under test. */
export async function startWorld(fleet: readonly object[]): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "berth-cli-"));
  const file = join(folder, "fleet.json");
  writeFileSync(
    file,
    JSON.stringify({ site: { tenantId: "lab", name: "hall", region: "local" }, nodes: fleet }),
  );
  const child = spawn(
    process.execPath,
    [BIN, "serve", "--ephemeral", "--with-parent", "--fleet", file],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
    },
  );
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close");
  const out = collected(child.stdout.pipe(new PassThrough()));
  await Promise.race([
    out.until("\n"),
    ended.then(() => Promise.reject(new Error(`the server did not start:\n${err}`))),
  ]);
  const { url, token, fleet: laid } = JSON.parse(out.text()) as Ready;
  return {
    url,
    admin: createBerth({ url, token }),
    adminToken: token,
    token: (tenantId = "vision") => laid.tenants[tenantId] ?? missing(tenantId),
    pool: (model) =>
      laid.pools.find(({ gpuModel }) => gpuModel === model)?.poolId ?? missing(model),
    env: (more = {}) => ({
      BERTH_URL: url,
      BERTH_TOKEN: laid.tenants["vision"] ?? missing("vision"),
      XDG_CONFIG_HOME: folder,
      TZ: "Europe/Paris",
      ...more,
    }),
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function missing(name: string): never {
  throw new Error(`the fleet has no ${name}`);
}

/** The command as scripts run it: a process without a terminal. */
export async function berth(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  // A command that reads nothing may be gone before it is written to.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

export interface Terminal {
  readonly ended: Promise<Ended>;
  /** Types, once this is on the screen. */
  type(seen: string | RegExp, keys: string): Promise<void>;
}

/** The command at a terminal of so many columns; prompts and all, in this process. */
export function atTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  columns = 100,
): Terminal {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 40 });
  const [out, err] = [collected(stdout), collected(stderr)];
  const io: Io = { stdin, stdout, stderr, env, now: Date.now };
  const ended = run(args, io).then((code): Ended => ({ code, out: out.text(), err: err.text() }));
  return {
    ended,
    async type(seen, keys) {
      await Promise.race([err.until(seen), ended.then(() => undefined)]);
      stdin.write(keys);
    },
  };
}

/** The command without a terminal, in this process. */
export async function inProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [collected(stdout), collected(stderr)];
  const stdin = new PassThrough();
  stdin.end(input);
  const code = await run(args, { stdin, stdout, stderr, env, now: Date.now });
  return { code, out: out.text(), err: err.text() };
}

interface Collected {
  text(): string;
  until(seen: string | RegExp): Promise<void>;
}

function collected(stream: PassThrough): Collected {
  let all = "";
  const waiting: (() => void)[] = [];
  stream.setEncoding("utf8").on("data", (text: string) => {
    all += text;
    for (const look of waiting) look();
  });
  return {
    text: () => all,
    until: (seen) =>
      new Promise((resolve) => {
        const look = () => {
          if (typeof seen === "string" ? all.includes(seen) : seen.test(all)) resolve();
        };
        waiting.push(look);
        look();
      }),
  };
}

/** Everything that a terminal would obey. */
// oxlint-disable-next-line no-control-regex
export const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;
