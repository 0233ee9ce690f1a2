/** Every verb in every form: data and nothing else on standard output, and the status that a script relies on. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Reservation, createBerth } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { BIN, OBEYED, type World, berth, inProcess, nodes, startWorld } from "./kit.ts";

let world: World;
/** Runs, and to be seen by every verb that looks. */
let booked: Reservation;
beforeAll(async () => {
  world = await startWorld([...nodes("H100", 4), ...nodes("T4", 1)]);
  booked = await book({ leaseSeconds: 600 });
});
afterAll(() => world.stop());

function book(more: object = {}): Promise<Reservation> {
  const client = createBerth({ url: world.url, token: world.token() });
  return client.reservations.create({
    tenantId: "vision",
    poolId: world.pool("H100"),
    devices: [{ class: "gpu", count: 1 }],
    duration: "4h",
    ...more,
  });
}

/** How each verb is called, and the method whose answer its JSON has the shape of. */
const VERBS: readonly (readonly [
  verb: string,
  args: () => readonly string[],
  keys: readonly string[],
])[] = [
  ["whoami", () => [], ["tenantId", "name", "role", "scope", "keyId", "expiresAt"]],
  ["capacity", () => [], ["tenantId", "pools", "byGpuModel"]],
  ["capacity", () => ["--pool", "H100"], ["poolId", "capacity"]],
  ["pools", () => [], ["pools"]],
  ["ls", () => [], ["reservations", "nextCursor"]],
  ["show", () => [booked.id], ["id", "state", "members", "version"]],
  [
    "preview",
    () => ["8", "--for", "1h", "--pool", "H100"],
    ["fits", "candidates", "earliestStart", "asOf"],
  ],
  [
    "book",
    () => ["8", "--for", "1h", "--pool", "H100", "--dry-run"],
    ["preview", "quota", "alternatives"],
  ],
  ["book", () => ["1", "--for", "1h", "--model", "T4", "--yes"], ["id", "state", "members"]],
  ["renew", () => [booked.id], ["id", "leaseExpiresAt", "version"]],
  ["extend", () => [booked.id, "--until", "+1h", "--dry-run"], ["id", "end", "version"]],
  ["extend", () => [booked.id, "--until", "+1h", "--yes"], ["id", "end", "version"]],
];

describe.each(VERBS)("berth %s", (verb, args, keys) => {
  const call = (...more: string[]) => inProcess([verb, ...args(), ...more], world.env());

  it("as JSON has the API's shape, and nothing beside it on standard output", async () => {
    const { code, out, err } = await call("-o", "json");
    expect({ code, err: /berth: /.exec(err) }).toEqual({ code: 0, err: null });
    const data = JSON.parse(out) as object;
    expect(Object.keys(data)).toEqual(expect.arrayContaining([...keys]));
  });

  it("as jsonl is a line an entry, as YAML the same data, as a table lines for people", async () => {
    const lines = (await call("-o", "jsonl")).out.trimEnd().split("\n");
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf("object");
    const yaml = await call("-o", "yaml");
    expect(Object.keys(parse(yaml.out) as object)).toEqual(expect.arrayContaining([...keys]));
    const { code, out } = await call();
    expect(code).toBe(0);
    expect(out).not.toBe("");
    expect(out).not.toMatch(OBEYED);
  });
});

describe("berth release", () => {
  it("gives back what it shows first, and answers it as the API does", async () => {
    const { id } = await book();
    const { code, out, err } = await inProcess(["release", id, "--yes", "-o", "json"], world.env());
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id, state: "released" });
    expect(err).toContain(`${id}, active, 1 gpu`);
    expect(err).toContain(`berth show ${id}`);
    expect(err).not.toContain("berth extend");
  });
});

describe("berth ls", () => {
  it("shows what runs and is to come, and with --state what has ended", async () => {
    const { id } = await book();
    await inProcess(["release", id, "--yes"], world.env());
    expect((await inProcess(["ls"], world.env())).out).not.toContain(id);
    expect((await inProcess(["ls", "--state", "released"], world.env())).out).toContain(id);
    expect((await inProcess(["ls", "--state", "all"], world.env())).out).toContain(booked.id);
  });

  it("goes on where a page ended", async () => {
    await book();
    const first = await inProcess(["ls", "--limit", "1", "-o", "json"], world.env());
    const { reservations, nextCursor } = JSON.parse(first.out) as {
      reservations: Reservation[];
      nextCursor: string;
    };
    expect(reservations).toHaveLength(1);
    expect(first.err).toContain(`--cursor ${nextCursor}`);
    const second = await inProcess(["ls", "--cursor", nextCursor, "-o", "jsonl"], world.env());
    expect(second.out).not.toContain(reservations[0]?.id);
    expect(second.out).toContain(booked.id);
  });

  it("takes columns by name, and names those there are", async () => {
    const { out } = await inProcess(["ls", "--columns", "id,what"], world.env());
    expect(out.split("\n")[0]).toMatch(/^ID +WHAT$/);
    const wrong = await inProcess(["ls", "--columns", "nope"], world.env());
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toContain('there is no column "nope"; there are state, what');
  });
});

describe("berth watch", () => {
  it("prints events as lines of JSON, as they happen, and ends by itself after --count", async () => {
    const watching = inProcess(
      ["watch", "--after", await cursor(), "--count", "1", "-o", "jsonl"],
      world.env(),
    );
    const { id } = await book();
    const { code, out } = await watching;
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events).toMatchObject([{ type: "reservation.created", data: { reservationId: id } }]);
  });

  it("ends with status 0 when it is interrupted", async () => {
    const args = ["watch", "--after", await cursor(), "-o", "jsonl"];
    const child = spawn(process.execPath, [BIN, ...args], {
      env: { PATH: process.env["PATH"], ...world.env() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    await book();
    await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await closed).toEqual([0, null]);
  });

  it("of a reservation that is not there ends at once and says so", async () => {
    const { code, out, err } = await inProcess(["watch", `rsv_${"0".repeat(26)}`], world.env());
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toContain("NOT_FOUND");
  });

  it("has no JSON, as a stream has no end", async () => {
    const { code, out, err } = await inProcess(["watch", "-o", "json"], world.env());
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("-o jsonl");
  });

  /** From here on a watch misses nothing, however late it begins. */
  async function cursor(): Promise<string> {
    const client = createBerth({ url: world.url, token: world.token() });
    const events = await client.events.list({ tenantId: "vision" }).toArray({ limit: 10_000 });
    return events.at(-1)?.cursor ?? "";
  }
});

describe("berth api", () => {
  it("calls a method by its name, with input from a pipe", async () => {
    const input = JSON.stringify({ tenantId: "vision" });
    const { code, out } = await inProcess(["api", "pools.list", "-f", "-"], world.env(), input);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toHaveProperty("pools");
    expect((await inProcess(["api", "access.whoami", "-o", "yaml"], world.env())).out).toContain(
      'tenantId: "vision"',
    );
  });

  it.each([
    [["api", "nope"], "", /needs the name of a method/],
    [["api", "reservations.watch"], "", /streams are for berth watch/],
    [["api", "pools.list", "-f", "-"], "{", /-f - is not JSON/],
    [["api", "pools.list", "-f", "-"], "[]", /every method takes one/],
    [["api", "pools.list", "-o", "table"], "", /has no table/],
  ])("refuses %j of %j", async (args, input, says) => {
    const { code, out, err } = await inProcess(args, world.env(), input);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(says);
  });
});

describe("the status of the process", () => {
  it.each([
    [0, ["--version"]],
    [2, ["boook"]],
    [2, ["book", "16"]],
    [2, ["book", "8", "--for", "1h", "--pool", "H100"]],
    [2, ["book", "8", "--for", "soon", "--pool", "H100", "--yes"]],
    [2, ["ls", "-o", "xml"]],
    [2, ["login", "--token", "secret-on-the-line"]],
    [3, ["book", "64", "--for", "1h", "--pool", "H100", "--yes"]],
    [3, ["preview", "64", "--for", "1h", "--pool", "H100"]],
    [4, ["show", "rsv_00000000000000000000000000"]],
    [4, ["ls", "--tenant", "speech"]],
  ] as const)("is %i for berth %j, with no data but of --version", async (status, args) => {
    const { code, out, err } = await berth(args, world.env());
    expect(code, err).toBe(status);
    // Of these the answer is the data, whatever it says.
    const isAnswer = status === 0 || args[0] === "preview";
    expect({ out: out !== "", err: err !== "" }).toEqual({ out: isAnswer, err: !isAnswer });
    expect(err).not.toMatch(/\n\s+at /);
  });

  it("is 5 for a server that is not there, and 4 for a token that is not good", async () => {
    const gone = await berth(["whoami"], world.env({ BERTH_URL: "http://127.0.0.1:1" }));
    expect(gone).toMatchObject({ code: 5, out: "" });
    expect(gone.err).toMatch(/^berth: NETWORK .*\n {2}try/);
    const bad = await berth(["whoami"], world.env({ BERTH_TOKEN: "berth_bad" }));
    expect(bad).toMatchObject({ code: 4, out: "" });
    expect(bad.err).toContain("berth login");
    expect(bad.err).not.toContain("berth_bad");
  });

  it("comes with code, sentence, what to try, request id and the page of the error", async () => {
    const { err } = await berth(["show", "rsv_00000000000000000000000000"], world.env());
    expect(err).toMatch(
      /^berth: NOT_FOUND .+\n {2}try {6}.+\n {2}request {2}\S+\n {2}docs {5}http:\S+\/docs\/errors\/not-found\n$/,
    );
    const page = /docs +(\S+)/.exec(err)?.[1] ?? "";
    expect((await fetch(page)).status).toBe(200);
  });
});
