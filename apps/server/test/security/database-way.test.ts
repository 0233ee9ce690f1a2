/** The way to the database: across a network it is told when it is not safe; the embedded one is for its own process only. */
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@berth/db";
import { testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clearText } from "../../src/clear-text.ts";
import { type SpawnedServer, spawnBerth, spawnEmbedded, startServer } from "../harness.ts";

const PASSWORD = "pass-word-canary";
const at = (host: string, query = "") => `postgres://berth:${PASSWORD}@${host}/berth${query}`;

describe("a database URL", () => {
  it.each([
    ["db.test:5432", ""],
    ["db.test", "?sslmode=disable"],
    ["db.test", "?ssl=false"],
    ["10.0.0.7:5432", "?application_name=x"],
    ["[2001:db8::1]:5432", ""],
    ["localhost:5432,db.test:5432", ""],
    ["127.0.0.1.db.test", ""],
    ["localhost.db.test", ""],
  ])("that speaks in the clear is told of by host, without the password: %s%s", (host, query) => {
    const risk = clearText(at(host, query)) ?? "";
    expect(risk).toMatch(/is spoken to without TLS: .*\?sslmode=verify-full/);
    expect(risk).not.toContain(PASSWORD);
    expect(risk).toContain(/\[?([\w:.]+?)\]?(:5432)?$/.exec(host)?.[1]);
  });

  it.each([
    ["prefer", "whenever"],
    ["allow", "not asked who it is"],
    ["require", "not asked who it is"],
  ])("with TLS that proves nothing is told of: sslmode=%s", (mode, says) => {
    expect(clearText(at("db.test", `?sslmode=${mode}`))).toContain(says);
  });

  it.each([
    at("127.0.0.1:5432"),
    at("localhost"),
    at("[::1]:5432", "?sslmode=disable"),
    at("%2Fvar%2Frun%2Fpostgresql"),
    "postgres:///berth",
    at("db.test", "?sslmode=verify-full"),
    at("db.test", "?sslmode=verify-ca"),
    at("db.test", "?sslrootcert=system"),
  ])("of this machine, or with TLS that proves who answers, is not: %s", (url) => {
    expect(clearText(url)).toBeNull();
  });

  it("is told of at the start, to the person and in the log; the password is in neither", async () => {
    // Nobody listens there, which is known at once.
    const url = `postgres://berth:${PASSWORD}@0.0.0.0:1/berth`;
    const command = spawnBerth(["serve"], { DATABASE_URL: url, PORT: "0" });
    const { code } = await command.ended;
    expect(code).toBe(5);
    expect(command.stderr()).toContain("WARNING: the database at 0.0.0.0 is spoken to without TLS");
    const logged = command.stdout().trim().split("\n");
    const entry = logged.map((line) => JSON.parse(line) as { risk?: string; level: number });
    expect(entry.find(({ risk }) => risk?.includes("0.0.0.0"))?.level).toBe(40);
    expect(command.stdout() + command.stderr()).not.toContain(PASSWORD);
  });

  it("of this machine says nothing at the start", async () => {
    const database = await testDatabase();
    const lines: string[] = [];
    const server = await startServer({ database, lines });
    expect(lines.join("")).not.toContain("not safe from others");
    await server.stopServing();
    await database.close();
  });
});

describe.skipIf(process.platform !== "linux")("the embedded database", () => {
  const SEAL_KEY = "4a".repeat(32);
  const BOOTSTRAP = "bootstrap-canary-0123456789abcdefghij";
  let folder: string;
  let server: SpawnedServer;
  let url: URL;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-own-"));
    server = await spawnEmbedded(folder, { LOG_LEVEL: "trace", BERTH_SEAL_KEY: SEAL_KEY });
    url = new URL(readFileSync(join(folder, "database-url"), "utf8").trim());
  });
  afterAll(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const adminKey = () => readFileSync(join(folder, "admin-key"), "utf8").trim();
  /** Not the folder asked for when the database's account cannot reach that. */
  const data = () => {
    const here = join(folder, "postgres");
    return readdirSync(here).includes("moved-to") ? readlinkSync(join(here, "moved-to")) : here;
  };
  /** What the system shows of processes: to everybody their arguments, to their owner the environment too. */
  const processes = (what: "cmdline" | "environ") =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => ({
        pid: Number(pid),
        text: quietly(() => readFileSync(`/proc/${pid}/${what}`, "latin1")),
      }));

  it("keeps the first key and its own address for the owner of the process alone", () => {
    for (const file of ["admin-key", "database-url"]) {
      const { mode, uid } = statSync(join(folder, file));
      expect([file, mode & 0o777, uid]).toEqual([file, 0o600, process.getuid?.()]);
    }
    expect(statSync(data()).mode & 0o777).toBe(0o700);
    expect(statSync(join(data(), "berth.password")).mode & 0o777).toBe(0o600);
  });

  it("shows no secret in arguments of any process, in the environment of the database's, or in the log", () => {
    const secrets = [adminKey(), url.password, SEAL_KEY];
    expect(secrets.every((secret) => secret.length >= 32)).toBe(true);
    for (const { text } of processes("cmdline"))
      for (const secret of secrets) expect(text.includes(secret)).toBe(false);
    const theirs = processes("cmdline").filter(({ text }) => text.includes(data()));
    expect(theirs.length).toBeGreaterThan(0);
    const pids = new Set(theirs.map(({ pid }) => pid));
    for (const { pid, text } of processes("environ").filter((each) => pids.has(each.pid)))
      for (const secret of [...secrets, "BERTH_SEAL_KEY", "BERTH_BOOTSTRAP", "DATABASE_URL"])
        expect([pid, secret.slice(0, 6), text.includes(secret)]).toEqual([
          pid,
          secret.slice(0, 6),
          false,
        ]);
    for (const secret of secrets) expect(server.stdout()).not.toContain(secret);
    // To the person who started it: the key, this once.
    expect(server.stderr().split(adminKey())).toHaveLength(2);
    for (const secret of [url.password, SEAL_KEY]) expect(server.stderr()).not.toContain(secret);
  });

  it("listens on loopback alone, and has no socket in a folder", async () => {
    const port = Number(url.port);
    const wanted = port.toString(16).toUpperCase().padStart(4, "0");
    const listening = ["tcp", "tcp6"].flatMap((family) =>
      quietly(() => readFileSync(`/proc/net/${family}`, "utf8"))
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter(([, local, , state]) => local?.endsWith(`:${wanted}`) && state === "0A")
        .map(([, local]) => local),
    );
    expect(listening).toEqual([`0100007F:${wanted}`]);
    const others = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4");
    for (const { address } of others) expect(await reaches(address, port)).toBe(false);
    const { sql, close } = openDatabase(url.href, { connections: 1, writers: 1 });
    expect(await sql`show unix_socket_directories`).toEqual([{ unix_socket_directories: "" }]);
    await close();
  });

  it("asks everybody of this machine for the password", async () => {
    const rules = readFileSync(join(data(), "pg_hba.conf"), "utf8")
      .split("\n")
      .filter((line) => /^\s*(local|host)/.test(line));
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) expect(rule).toMatch(/scram-sha-256\s*$/);
    for (const [username, password] of [
      ["postgres", ""],
      ["postgres", "postgres"],
      ["root", ""],
      ["nobody", url.password],
    ] as const)
      expect(await enter(Object.assign(new URL(url), { username, password }).href)).toBe("28P01");
    expect(await enter(url.href)).toBe("in");
  });

  it("takes a bootstrap token from the environment, and gives it to nobody", async () => {
    const own = mkdtempSync(join(tmpdir(), "berth-way-"));
    chmodSync(own, 0o755);
    const other = await spawnEmbedded(own, { BERTH_BOOTSTRAP_TOKEN: BOOTSTRAP });
    try {
      for (const { text } of processes("cmdline")) expect(text.includes(BOOTSTRAP)).toBe(false);
      const holders = processes("environ").filter(({ text }) => text.includes(BOOTSTRAP));
      expect(holders.map(({ pid }) => pid)).toEqual([other.process.pid]);
      expect(other.stdout() + other.stderr()).not.toContain(BOOTSTRAP);
    } finally {
      await other.kill();
      rmSync(own, { recursive: true, force: true });
    }
  });
});

/** Processes come and go while they are looked at, and not all are ours to look into. */
function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 }, () => {
      socket.destroy();
      resolve(true);
    });
    for (const event of ["error", "timeout"])
      socket.on(event, () => {
        socket.destroy();
        resolve(false);
      });
  });
}

/** `in`, or the SQLSTATE with which the database refuses. */
async function enter(url: string): Promise<string> {
  const { sql, close } = openDatabase(url, { connections: 1, writers: 1 });
  try {
    return await sql`select 1`.then(
      () => "in",
      (error: unknown) => (error as { code: string }).code,
    );
  } finally {
    await close();
  }
}
