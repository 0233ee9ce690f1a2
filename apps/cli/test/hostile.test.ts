/** What strangers typed in does not reach the terminal, and a token is never printed. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OBEYED, type World, atTerminal, berth, inProcess, nodes, startWorld } from "./kit.ts";

const LABEL = "hall\u001B]0;owned\u0007\u001B[31m\u009B1m\u202Ered";

/** Stands between: the server refuses such labels today, and need not be the one that answers. */
const PLAIN = "hall-as-labelled";
const between = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${world.url}${request.url ?? ""}`, {
      method: request.method ?? "GET",
      headers: { ...(headers as Record<string, string>), "accept-encoding": "identity" },
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    const text = (await answer.text()).replaceAll(PLAIN, JSON.stringify(LABEL).slice(1, -1));
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  })();
});

let world: World;
let pool: string;
let hostile: Record<string, string>;
beforeAll(async () => {
  world = await startWorld(nodes("H100", 1));
  const { admin } = world;
  const { sites } = await admin.fleet.listSites({ tenantId: "lab" });
  const made = await admin.pools.create({
    tenantId: "lab",
    siteId: sites[0]?.id ?? "",
    class: "metal-host",
    policy: { label: PLAIN },
  });
  pool = made.id;
  const node = { ...(nodes("A100", 1)[0] as { name: string }), name: PLAIN };
  await admin.fleet.putNodes({ siteId: sites[0]?.id ?? "", poolId: pool, nodes: [node] });
  const terms = { poolId: pool, toTenantId: "vision", quota: { gpu: 8 } };
  await admin.pools.offer({ tenantId: "lab", ...terms });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  hostile = world.env({ BERTH_URL: `http://127.0.0.1:${(between.address() as AddressInfo).port}` });
});
afterAll(() => {
  between.close();
  return world.stop();
});

describe("control characters of a pool's label", () => {
  it.each(["table", "json", "jsonl", "yaml"])("do not reach the terminal as %s", async (form) => {
    for (const verb of ["pools", "capacity"]) {
      const { code, out, err } = await inProcess([verb, "-o", form], hostile);
      expect(code).toBe(0);
      // The API's answer to capacity has no labels; its table does.
      if (verb === "pools" || form === "table") expect(out).toContain("hall");
      expect(out.replaceAll("\n", "")).not.toMatch(OBEYED);
      expect(err).not.toMatch(OBEYED);
    }
  });

  it("as JSON are the same text for a program", async () => {
    const { out } = await inProcess(["pools", "-o", "json"], hostile);
    const { pools } = JSON.parse(out) as { pools: { label: string }[] };
    expect(pools.map(({ label }) => label)).toContain(LABEL);
  });

  it("do not reach it in a plan, in the list of pools to choose from, or in an error", async () => {
    const planned = ["book", "1", "--for", "1h", "--pool", pool, "--dry-run"];
    for (const form of ["table", "yaml"]) {
      const { code, out } = await inProcess([...planned, "-o", form], hostile);
      expect(code).toBe(0);
      expect(out).toContain("hall");
      expect(out.replaceAll("\n", "")).not.toMatch(OBEYED);
    }
    const several = await inProcess(
      ["book", "1", "--for", "1h", "--pool", "hall", "--yes"],
      hostile,
    );
    expect(several.code).toBe(2);
    expect(several.err).toContain("hall");
    expect(several.err).not.toMatch(OBEYED);
    const named = await inProcess(["pools", "--tenant", "x\u001B[31m"], hostile);
    expect(named.err).not.toMatch(OBEYED);
  });

  it("at a terminal, only the title's own colour is obeyed, and NO_COLOR takes that away", async () => {
    const colored = await atTerminal(["pools"], hostile).ended;
    // oxlint-disable-next-line no-control-regex
    expect(colored.out.replaceAll(/\u001B\[(?:1|22)m/g, "")).not.toMatch(OBEYED);
    expect(colored.out).toContain("\u001B[1m");
    const plain = await atTerminal(["pools"], { ...hostile, NO_COLOR: "1" }).ended;
    expect(plain.out).not.toMatch(OBEYED);
  });
});

describe("a token", () => {
  it("is never printed, whatever goes wrong", async () => {
    const token = world.token();
    for (const [args, env] of [
      [["whoami", "-o", "json"], {}],
      [["login", "--url", world.url, "--token", token], {}],
      [["show", "nonsense"], {}],
      [["whoami"], { BERTH_URL: "http://127.0.0.1:1" }],
      [["whoami"], { BERTH_URL: "no address" }],
      [["whoami"], { BERTH_TOKEN: `${token}\u00E9` }],
    ] as const) {
      const { out, err } = await berth(args, world.env(env));
      expect(out + err).not.toContain(token);
    }
  });
});
