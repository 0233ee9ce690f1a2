/** What the commands say when something is not there, cannot be had or is not allowed: one line, never a stack. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_KEY,
  type TestServer,
  pool,
  spawnBerth,
  spawnServer,
  startServer,
} from "./harness.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const shell = promisify(execFile);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-commands-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function berth(args: readonly string[], environment: Record<string, string> = {}) {
  const command = spawnBerth(args, { BERTH_DATA_DIR: folder, PORT: "0", ...environment });
  const { code } = await command.ended;
  return { code, out: command.stdout().trim(), err: command.stderr().trim() };
}

const lines = (text: string) => text.split("\n");

describe("a database that cannot be used", () => {
  it.each(["migrate", "doctor", "rebuild", "serve"])(
    "%s names host, port, database and cause in one line, status 5",
    async (command) => {
      const database = await testDatabase();
      const good = new URL(database.url);
      const at = `${good.hostname}:${good.port}`;
      const wrong = Object.assign(new URL(good), { password: "not-the-password" });
      const none = Object.assign(new URL(good), { pathname: "/not_there" });
      const closed = "postgres://u:not-the-password@127.0.0.1:1/berth";
      const own = good.pathname.slice(1);
      for (const [url, words] of [
        [wrong.href, [`database "${own}" at ${at}`, "password authentication failed"]],
        [none.href, [`database "not_there" at ${at}`, "does not exist"]],
        [closed, [`database "berth" at 127.0.0.1:1`, "ECONNREFUSED"]],
      ] as const) {
        const { code, out, err } = await berth([command], { DATABASE_URL: url });
        expect(code).toBe(5);
        expect(lines(err)).toHaveLength(1);
        for (const word of words) expect(err).toContain(word);
        expect(out + err).not.toContain("not-the-password");
        expect(err).not.toContain("nothing was written");
      }
      await database.close();
    },
  );
});

describe("a data folder", () => {
  it.each(["doctor", "rebuild"])("without a database is not filled by %s", async (command) => {
    const empty = join(folder, "empty");
    const { code, err } = await berth([command], { BERTH_DATA_DIR: empty });
    expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 1 });
    expect(err).toContain(`no database in ${empty}`);
    expect(existsSync(empty)).toBe(false);
  });

  it.each(["doctor", "rebuild", "migrate", "serve"])(
    "that is a file is named by %s, status 2",
    async (command) => {
      const file = join(folder, "file");
      writeFileSync(file, "");
      const { code, err } = await berth([command], { BERTH_DATA_DIR: file });
      expect({ code, err }).toEqual({
        code: 2,
        err: `berth: BERTH_DATA_DIR ${file} is a file: name a folder`,
      });
    },
  );

  // Nobody makes a folder there, root included.
  it.skipIf(!existsSync("/proc/self"))("that cannot be written is named by serve", async () => {
    const { code, err } = await berth(["serve"], { BERTH_DATA_DIR: "/proc/berth" });
    expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 1 });
    expect(err).toContain("BERTH_DATA_DIR /proc/berth cannot be used");
  });

  it("is migrated once, and told which migrations were applied", async () => {
    const fresh = join(folder, "fresh");
    const here = { BERTH_DATA_DIR: fresh };
    const first = await berth(["migrate"], here);
    expect(first).toMatchObject({ code: 0, out: "" });
    expect(first.err).toContain("applied 0000_tables, ");
    expect(first.err).toContain(`to the embedded database in ${fresh}`);
    expect((await berth(["migrate"], here)).err).toContain("nothing was applied");
    const examined = await berth(["doctor"], here);
    expect(examined.err).toContain("looked at 0 pools, 0 nodes, 0 units, 0 live reservations");
  });
});

describe("serve", () => {
  it("names a HOST that does not resolve, and makes nothing", async () => {
    const dir = join(folder, "unresolved");
    const here = { BERTH_DATA_DIR: dir, HOST: "no.such.host.invalid" };
    const { code, err } = await berth(["serve"], here);
    expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 1 });
    expect(err).toContain("HOST no.such.host.invalid cannot be resolved");
    expect(existsSync(dir)).toBe(false);
  });

  it("names a PORT that is taken before it makes a database or shows a key", async () => {
    const dir = join(folder, "taken");
    await onTakenPort(async (port) => {
      const { code, err } = await berth(["serve"], { BERTH_DATA_DIR: dir, PORT: port });
      expect({ code, lines: lines(err).length }).toEqual({ code: 2, lines: 1 });
      expect(err).toContain(`PORT ${port} on 127.0.0.1 is taken`);
    });
    expect(existsSync(dir)).toBe(false);
  });

  it("warns when nobody has a key of the database, and says how to make one", async () => {
    const database = await testDatabase();
    const keyless = await spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: "" });
    expect(keyless.stderr()).toMatch(/WARNING: there is no key.*\n.*BERTH_BOOTSTRAP_TOKEN/);
    await keyless.kill();
    await (await spawnServer(database.url)).kill();
    const later = await spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: "" });
    expect(later.stderr()).not.toContain("WARNING");
    await later.kill();
    await database.close();
  });
});

async function onTakenPort(work: (port: string) => Promise<void>): Promise<void> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const address = holder.address();
  try {
    await work(String(typeof address === "object" ? address?.port : ""));
  } finally {
    holder.close();
  }
}

describe("a reader that has gone", () => {
  it.each(["--help", "openapi"])("does not break `berth %s | head -1`", async (args) => {
    const line = `"$0" "$1" ${args} | head -1 > /dev/null; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await shell("bash", ["-c", line, process.execPath, MAIN]);
    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  });

  it("before the first line is no error either", async () => {
    const line = `("$0" "$1" openapi; echo "$?" >&2) | true`;
    const { stderr } = await shell("bash", ["-c", line, process.execPath, MAIN]);
    expect(stderr).toBe("0\n");
  });
});

describe("help", () => {
  it("has a version", async () => {
    expect(await berth(["--version"])).toMatchObject({ code: 0, out: "0.1.0", err: "" });
  });

  it("marks the options that are required", async () => {
    const { out } = await berth(["keys", "create", "--help"]);
    for (const option of ["--tenant", "--role", "--name"])
      expect(out).toMatch(new RegExp(`${option} <\\w+> +\\(required\\)`));
    expect(out).not.toMatch(/--pool.*\(required\)/);
  });

  it("describes every command", async () => {
    for (const group of ["keys", "tenants"]) {
      const { out } = await berth([group, "--help"]);
      const commands = lines(out.slice(out.indexOf("Commands:"))).slice(1);
      for (const line of commands) expect(line).toMatch(/^ {2}\S.* {2}\S/);
    }
  });
});

describe("tenants", () => {
  let server: TestServer;
  let here: Record<string, string>;
  beforeAll(async () => {
    server = await startServer();
    here = { BERTH_URL: server.url, BERTH_TOKEN: ADMIN_KEY };
  });
  afterAll(() => server.stop());

  it("that are not there are named, with the command that makes them, status 4", async () => {
    const file = join(folder, "fleet.json");
    writeFileSync(file, JSON.stringify({ nodes: [{ name: "n1", vcpu: 4, memoryGiB: 8 }] }));
    for (const args of [
      ["keys", "create", "--tenant", "lab", "--role", "tenant-admin", "--name", "ops"],
      ["keys", "list", "--tenant", "lab"],
      ["import", file, "--site", "s", "--tenant", "lab"],
      ["import", file, "--site", "s", "--tenant", "lab", "--dry-run"],
    ]) {
      const { code, err } = await berth(args, here);
      expect(err, args.join(" ")).toBe(
        "berth: there is no tenant lab, or this key may not see it; make it with: berth tenants put lab",
      );
      expect(code).toBe(4);
    }
  });

  it("are made, changed and listed", async () => {
    expect(await berth(["tenants", "put", "above"], here)).toMatchObject({ code: 0 });
    const put = ["tenants", "put", "below", "--parent", "above", "--name", "Below"];
    const made = await berth(put, here);
    const below = { tenantId: "below", parentId: "above", name: "Below" };
    expect(JSON.parse(made.out)).toEqual(below);
    const again = await berth(["tenants", "put", "below"], here);
    expect(JSON.parse(again.out)).toEqual(below);
    const listed = lines((await berth(["tenants", "list"], here)).out);
    expect(listed.map((line) => JSON.parse(line) as unknown)).toContainEqual(below);
    const key = ["keys", "create", "--tenant", "below", "--role", "tenant-admin", "--name", "ops"];
    expect(await berth(key, here)).toMatchObject({ code: 0 });
  });
});

describe("one pool", () => {
  it("is counted as one by rebuild and doctor", async () => {
    const server = await startServer();
    await server.fleet(pool(2, 4));
    const here = { DATABASE_URL: server.database.url };
    expect((await berth(["rebuild"], here)).err).toBe("1 pool recounted, 0 rows corrected");
    expect((await berth(["doctor"], here)).err).toMatch(
      /looked at 1 pool, 2 nodes, 8 units, 0 live reservations of database "/,
    );
    await server.stop();
  });
});
