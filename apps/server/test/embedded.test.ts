/** The server with a database of its own: its first key, its folder, and what a kill leaves behind. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "@berth/db/testing";
import { type SpawnedServer, actors, pool, spawnBerth, spawnEmbedded } from "./harness.ts";

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "berth-data-"));
  // The database's account has to get there: otherwise its data would be elsewhere, and stay.
  chmodSync(dataDir, 0o755);
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const keyFile = () => join(dataDir, "admin-key");
const keptKey = () => readFileSync(keyFile(), "utf8").trim();

async function berth(args: string[], environment: Record<string, string> = {}) {
  const command = spawnBerth(args, { BERTH_DATA_DIR: dataDir, ...environment });
  const { code } = await command.ended;
  return { code, out: command.stdout().trim(), err: command.stderr() };
}

describe("an embedded server", () => {
  let server: SpawnedServer;
  let reservationId: string;

  it("makes a first key, prints it once and keeps it for its owner's eyes only", async () => {
    server = await spawnEmbedded(dataDir);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
    expect(server.stderr()).toContain(keptKey());
    expect(server.stdout()).not.toContain(keptKey());
    const { admin } = actors(server.url, keptKey());
    expect(await admin.access.whoami({})).toMatchObject({
      tenantId: "platform",
      role: "fleet-admin",
    });
  });

  it("is run by commands beside it, with the kept key", async () => {
    const { admin } = actors(server.url, keptKey());
    await admin.fleet.putTenant({ tenantId: "t-own" });
    const here = { BERTH_URL: server.url };
    const made = await berth(
      ["keys", "create", "--tenant", "t-own", "--role", "tenant-admin", "--name", "ops"],
      here,
    );
    expect(made).toMatchObject({ code: 0 });
    expect(made.out).toMatch(/^berth_[0-9a-z]{26}_[0-9A-Za-z]{38}$/);
    const listed = await berth(["keys", "list", "--tenant", "t-own"], here);
    const [key] = listed.out
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; name: string });
    expect(key).toMatchObject({ name: "ops" });
    expect(listed.out).not.toContain(made.out);
    expect(await berth(["keys", "revoke", key?.id ?? ""], here)).toMatchObject({ code: 0 });
    const refused = await berth(["keys", "list", "--tenant", "t-own"], {
      ...here,
      BERTH_TOKEN: made.out,
    });
    expect(refused.code).toBe(4);
  });

  it("is examined by the doctor while it runs", async () => {
    expect(await berth(["doctor"])).toMatchObject({ code: 0 });
  });

  it("does not share its folder", async () => {
    const second = await berth(["serve"], { PORT: "0" });
    expect(second.code).toBe(2);
    expect(second.err).toContain("already runs");
  });

  it("killed, leaves no database behind and loses no booking", async () => {
    const { admin, fleet } = actors(server.url, keptKey());
    const { poolId } = await fleet(pool(1, 2));
    const devices = [{ class: "gpu" as const, count: 1 }];
    const booked = await admin.reservations.create({
      tenantId: "t-own",
      poolId,
      devices,
      duration: "1h",
    });
    reservationId = booked.id;
    expect(await server.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
    server = await spawnEmbedded(dataDir);
    expect(server.stderr()).not.toContain(keptKey());
    const { admin: again } = actors(server.url, keptKey());
    expect(await again.reservations.get({ tenantId: "t-own", reservationId })).toMatchObject({
      state: "active",
    });
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  it("is examined by the doctor when it does not run", async () => {
    expect(await berth(["doctor"])).toMatchObject({ code: 0 });
  });
});

describe("a database that Berth was never on", () => {
  it("is not examined but named, and migrated on request", async () => {
    const empty = await testDatabase({ empty: true });
    const here = { DATABASE_URL: empty.url };
    const before = await berth(["doctor"], here);
    expect(before.code).toBe(2);
    expect(before.err).toContain("berth migrate");
    expect(await berth(["migrate"], here)).toMatchObject({ code: 0, out: "" });
    expect(await berth(["doctor"], here)).toMatchObject({ code: 0 });
    await empty.close();
  });
});

it("a first key from the environment is not made twice", async () => {
  const token = "embedded-bootstrap-token-0123456789abcdef";
  const own = mkdtempSync(join(tmpdir(), "berth-data-"));
  chmodSync(own, 0o755);
  const server = await spawnEmbedded(own, { BERTH_BOOTSTRAP_TOKEN: token });
  const { admin } = actors(server.url, token);
  expect((await admin.access.whoami({})).role).toBe("fleet-admin");
  expect(server.stdout() + server.stderr()).not.toContain(token);
  await server.kill("SIGTERM");
  rmSync(own, { recursive: true, force: true });
});
