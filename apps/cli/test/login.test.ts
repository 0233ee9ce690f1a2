/** Signing in: what is kept, where, for whom, and what wins over it. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type World, atTerminal, berth, inProcess, nodes, startWorld } from "./kit.ts";

let world: World;
let home: string;
let none: Record<string, string>;
beforeAll(async () => {
  world = await startWorld(nodes("H100", 1));
});
afterAll(() => world.stop());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "berth-home-"));
  none = { XDG_CONFIG_HOME: home, HOME: home };
  return () => rmSync(home, { recursive: true, force: true });
});

const file = () => join(home, "berth", "config.json");
const login = (more: readonly string[] = [], token = world.token()) =>
  inProcess(["login", "--url", world.url, "--token", "-", ...more], none, `${token}\n`);

describe("berth login", () => {
  it("from a pipe keeps server and token for this user alone, and says who that is", async () => {
    const { code, out, err } = await login();
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toContain(`logged in to ${world.url} as`);
    expect(err).not.toContain(world.token());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "berth")).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual({
      url: world.url,
      token: world.token(),
      tenantId: null,
    });
    expect((await inProcess(["whoami", "-o", "json"], none)).out).toContain('"tenantId": "vision"');
  });

  it("at a terminal asks for both, and shows nothing of the token", async () => {
    const terminal = atTerminal(["login"], none);
    await terminal.type("Server", `${world.url}\r`);
    await terminal.type("Token", `${world.token()}\r`);
    const { code, out, err } = await terminal.ended;
    expect(code, err).toBe(0);
    expect(out).toBe("");
    expect(err).not.toContain(world.token().slice(0, 20));
    expect(existsSync(file())).toBe(true);
  });

  it("keeps nothing that the server does not know", async () => {
    const { code, err } = await login([], "berth_unknown");
    expect(code).toBe(4);
    expect(err).toContain("UNAUTHENTICATED");
    expect(existsSync(file())).toBe(false);
  });

  it("without a terminal names the flags", async () => {
    const { code, err } = await berth(["login"], none);
    expect(code).toBe(2);
    expect(err).toContain("--url URL --token -");
  });

  it("takes no token on the command line", async () => {
    const { code, err } = await berth(["login", "--token", "berth_secret"], none);
    expect(code).toBe(2);
    expect(err).toContain("others on this machine can read");
    expect(err).not.toContain("berth_secret");
  });

  it("warns of a server that is spoken to in the clear", async () => {
    const far = ["login", "--url", "http://berth.invalid", "--token", "-"];
    const { code, err } = await inProcess(far, none, "berth_x\n");
    expect(code).toBe(5);
    expect(err).toContain("spoken to without TLS");
  });
});

describe("what is kept", () => {
  it("gives way to the environment", async () => {
    await login(["--tenant", "other"]);
    const speech = { ...none, BERTH_TOKEN: world.token("speech") };
    expect((await inProcess(["whoami", "-o", "json"], speech)).out).toContain(
      '"tenantId": "speech"',
    );
    expect((await inProcess(["ls"], none)).code).toBe(4);
    expect((await inProcess(["ls"], { ...none, BERTH_TENANT: "vision" })).code).toBe(0);
    expect((await inProcess(["ls", "--tenant", "vision"], none)).code).toBe(0);
  });

  it("is for the server that it was kept for: no other one is sent the token", async () => {
    await login();
    const { code, err } = await inProcess(["whoami"], { ...none, BERTH_URL: "http://127.0.0.1:1" });
    expect(code).toBe(2);
    expect(err).toContain(`has a token for ${world.url}`);
  });

  it.skipIf(process.platform === "win32")("is refused when others can read it", async () => {
    await login();
    chmodSync(file(), 0o644);
    const { code, err } = await inProcess(["whoami"], none);
    expect(code).toBe(2);
    expect(err).toContain(`chmod 600 ${file()}`);
  });

  it("is asked for when there is nothing", async () => {
    const { code, err } = await inProcess(["ls"], none);
    expect(code).toBe(2);
    expect(err).toContain("berth login");
  });
});

describe("the operators' commands that call a server", () => {
  const list = (env: Record<string, string>) =>
    berth(["tenants", "list"], { BERTH_DATA_DIR: join(home, "no-server"), ...none, ...env });

  it("go where berth login has signed in, and say so", async () => {
    await login([], world.adminToken);
    const { code, out, err } = await list({});
    expect({ code, err }).toEqual({ code: 0, err: `on ${world.url}, as berth login keeps it\n` });
    expect(out).toContain('"tenantId":"vision"');
  });

  it("take the environment's before it, part by part", async () => {
    await login([], world.adminToken);
    expect(await list({ BERTH_TOKEN: "berth_unknown" })).toMatchObject({ code: 4, out: "" });
    expect(await list({ BERTH_URL: world.url })).toMatchObject({ code: 0, err: "" });
  });

  it("send what is kept to no other server, and the key of this machine to no other machine", async () => {
    await login([], world.adminToken);
    const heard: unknown[] = [];
    const other = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(500).end();
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const here = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      const kept = await list({ BERTH_URL: here });
      expect(kept).toMatchObject({ code: 2, out: "" });
      expect(kept.err).toContain("BERTH_TOKEN is not set");
      expect(heard).toEqual([]);
      await list({ BERTH_URL: here, BERTH_BOOTSTRAP_TOKEN: "b".repeat(40) });
      expect(new Set(heard)).toEqual(new Set([`Bearer ${"b".repeat(40)}`]));
    } finally {
      other.closeAllConnections();
      other.close();
    }
    const far = { BERTH_URL: "http://berth.invalid", BERTH_BOOTSTRAP_TOKEN: "b".repeat(40) };
    const { code, err } = await list(far);
    expect(code).toBe(2);
    expect(err).toContain("the key that is kept here is not for http://berth.invalid");
  });

  it.skipIf(process.platform === "win32")("refuse a file that others can read", async () => {
    await login();
    chmodSync(file(), 0o644);
    const { code, err } = await list({});
    expect(code).toBe(2);
    expect(err).toContain(`chmod 600 ${file()}`);
  });
});
