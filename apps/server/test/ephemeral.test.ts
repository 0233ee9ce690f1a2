/** `berth serve --ephemeral`: a real server in a second or two, of which nothing is left. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createBerth } from "@berth/client";
import { waitFor } from "@berth/db/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

interface Ready {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly fleet: {
    readonly tenants: Readonly<Record<string, string>>;
    readonly pools: readonly { poolId: string; gpuModel: string; gpus: number }[];
  } | null;
}

/** Where each server of this file works, and keeps its temporary folders. */
let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "berth-ephemeral-"));
});
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "close");
  }
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function start(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [MAIN, "serve", "--ephemeral", ...args], {
    cwd: scratch,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }) as unknown);
  return { child, ended, out: () => out, err: () => err };
}

type Started = ReturnType<typeof start>;

/** The first line of standard output. */
async function ready({ child, err }: Started): Promise<Ready> {
  if (!child.stdout) throw new Error("its output is not ours to read");
  for await (const line of createInterface({ input: child.stdout }))
    return JSON.parse(line) as Ready;
  throw new Error(`it did not start:\n${err()}`);
}

/** The data folders of the servers that are below this process. */
function dataFolders(pid: number): string[] {
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const lines = running.flatMap((each) => {
    try {
      const parent = /\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1];
      const args = readFileSync(`/proc/${each}/cmdline`, "utf8").split("\0");
      return Number(parent) === pid ? [args] : [];
    } catch {
      return [];
    }
  });
  return lines.flatMap((args) => {
    const at = args.indexOf("-D");
    return at < 0 ? [] : [args[at + 1] ?? ""];
  });
}

const ask = { devices: [{ class: "gpu" as const, count: 2 }], duration: "1h" };

describe("an ephemeral server", () => {
  it("says in one line of JSON where it is, is ready then, and says nothing else on standard output", async () => {
    const began = performance.now();
    const server = start();
    const { url, token, pid, fleet } = await ready(server);
    process.stdout.write(`ephemeral: ready after ${Math.round(performance.now() - began)} ms\n`);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect([pid, fleet]).toEqual([server.child.pid, null]);
    const berth = createBerth({ url, token });
    expect(await berth.access.whoami()).toMatchObject({ role: "fleet-admin" });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.out().trimEnd().split("\n")).toHaveLength(1);
  });

  it("with a fleet can be booked on at once, by a tenant of it", async () => {
    const { url, fleet } = await ready(start(["--fleet", "demo"]));
    const pool = fleet?.pools[0];
    expect(pool?.gpus).toBeGreaterThan(8);
    const berth = createBerth({ url, token: fleet?.tenants["vision"] ?? "" });
    const booked = await berth.reservations.create({
      tenantId: "vision",
      poolId: pool?.poolId ?? "",
      ...ask,
    });
    expect(booked.state).toBe("active");
    expect(booked.members?.[0]?.atoms).toHaveLength(2);
  });

  it("is laid out whatever its limits are, which are whole when it is ready", async () => {
    const limits = { BERTH_RATE_LIMIT: "3", BERTH_ADDRESS_RATE_LIMIT: "3" };
    const { url, token, fleet } = await ready(start(["--fleet", "demo"], limits));
    expect(Object.keys(fleet?.tenants ?? {})).toContain("vision");
    const berth = createBerth({ url, token, maxRetries: 0 });
    const { headers } = await berth.access.whoami().withResponse();
    expect(headers.get("ratelimit")).toMatch(/^"principal";r=2;/);
    await berth.access.whoami();
    await berth.access.whoami();
    expect((await berth.access.whoami().safe()).error).toMatchObject({ code: "RATE_LIMITED" });
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "after %s leaves no folder, no process and nothing where it ran",
    async (signal) => {
      const server = start();
      const { url, pid } = await ready(server);
      const folders = dataFolders(pid);
      expect(folders).toHaveLength(1);
      server.child.kill(signal);
      expect(await server.ended).toEqual({ code: 0, signal: null });
      for (const folder of folders) expect(existsSync(folder)).toBe(false);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
      expect(readdirSync(scratch)).toEqual([]);
    },
  );

  it("told to stop before it is ready ends all the same, and leaves nothing", async () => {
    const server = start();
    const pid = server.child.pid ?? 0;
    await waitFor(() => Promise.resolve(dataFolders(pid).length > 0), "its database to start");
    const folders = dataFolders(pid);
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual({ code: 0, signal: null });
    for (const folder of folders) expect(existsSync(folder)).toBe(false);
  });

  it("killed, leaves no folder either", async () => {
    const server = start();
    const { pid } = await ready(server);
    const [folder = ""] = dataFolders(pid);
    server.child.kill("SIGKILL");
    await waitFor(() => Promise.resolve(!existsSync(folder)), "the folder to go");
    expect(existsSync(folder)).toBe(false);
  });

  it("with its parent ends when standard input does, in order", async () => {
    const server = start(["--with-parent"]);
    const { pid } = await ready(server);
    const [folder = ""] = dataFolders(pid);
    server.child.stdin?.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(folder)).toBe(false);
  });

  it("goes with a parent that is killed", async () => {
    // The parent is a process of its own: it starts the server, says where, and is killed.
    const script = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, [${JSON.stringify(MAIN)}, "serve", "--ephemeral", "--with-parent"],
        { stdio: ["pipe", "inherit", "ignore"] });
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["-e", script], {
      cwd: scratch,
      stdio: ["ignore", "pipe", "ignore"],
    });
    children.push(parent);
    const lines = createInterface({ input: parent.stdout });
    const [line] = (await once(lines, "line")) as [string];
    const { url, pid } = JSON.parse(line) as Ready;
    const [folder = ""] = dataFolders(pid);
    parent.kill("SIGKILL");
    await waitFor(() => Promise.resolve(!existsSync(folder)), "the folder to go");
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  });

  it("heeds nothing that is meant for the real server beside it, and says so", async () => {
    const set = {
      DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
      BERTH_DATA_DIR: join(scratch, "data"),
      PORT: "1",
      HOST: "192.0.2.1",
    };
    const server = start([], set);
    const { url } = await ready(server);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    for (const name of Object.keys(set)) expect(server.err()).toContain(name);
    expect(existsSync(set.BERTH_DATA_DIR)).toBe(false);
  });

  it("two at once are two servers", async () => {
    const [one, other] = await Promise.all([ready(start()), ready(start())]);
    await createBerth(one).fleet.putTenant({ tenantId: "t-one" });
    const { tenants } = await createBerth(other).fleet.listTenants();
    expect(tenants.map(({ tenantId }) => tenantId)).not.toContain("t-one");
  });
});

it.each([["--with-parent"], ["--fleet", "demo"]])(
  "%s without --ephemeral is refused",
  async (...args) => {
    const child = spawn(process.execPath, [MAIN, "serve", ...args], {
      cwd: scratch,
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    expect(await once(child, "close")).toEqual([2, null]);
    expect(err).toContain("--ephemeral");
    expect(readdirSync(scratch)).toEqual([]);
  },
);
