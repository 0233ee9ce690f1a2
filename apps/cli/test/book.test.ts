/** Booking: the plan before the act, at a terminal and without one. */
import { type Reservation, createBerth } from "@berth/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type World, atTerminal, berth, inProcess, nodes, startWorld } from "./kit.ts";
import { poolName } from "../src/words.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld([...nodes("H100", 4), ...nodes("A100", 2)]);
});
afterAll(() => world.stop());

const as = (tenantId: string) => createBerth({ url: world.url, token: world.token(tenantId) });
/** Whole nodes, by a tenant with a quota of its own. */
const take = (gpus: number, tenantId: string, start?: number): Promise<Reservation> =>
  as(tenantId).reservations.create({
    tenantId,
    poolId: world.pool("H100"),
    devices: [{ class: "gpu", count: 8 }],
    ...(gpus > 8 ? { gang: { size: gpus / 8 } } : {}),
    ...(start === undefined ? {} : { start }),
    duration: "1h",
  });
const live = (tenantId = "vision") =>
  as(tenantId)
    .reservations.list({ tenantId, state: ["scheduled", "active", "preempting"] })
    .toArray({ limit: 100 });
afterEach(async () => {
  for (const tenantId of ["vision", "robotics"])
    for (const { id: reservationId } of await live(tenantId))
      await as(tenantId).reservations.release({ tenantId, reservationId });
});

const SIXTEEN = ["book", "16", "--together", "rack", "--for", "7d"];

describe("the plan", () => {
  it("says that it fits, where, the window here and in UTC, and the quota left", async () => {
    const start = new Date(Date.now() + 86_400_000).toISOString();
    const args = [...SIXTEEN, "--start", start, "--pool", "H100", "--dry-run"];
    const { code, out, err } = await berth(args, world.env());
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("2 × 8 GPUs on nodes of one rack, in H100");
    expect(out).toMatch(/fits +yes, on h100-\d, h100-\d/);
    expect(out).toMatch(/start +\w{3} \d+ \w{3} \d{4} \d\d:\d\d:\d\d CES?T \(.*UTC\)/);
    expect(out).toMatch(/end .*, 7 d later/);
    expect(out).toMatch(/zone +Europe\/Paris/);
    expect(out).toMatch(/quota +16 of 32 gpu left after it/);
    expect(await live()).toEqual([]);
  });

  it("does not fit with a reason, causes by nodes, when it would, and a line that then fits; status 3", async () => {
    await take(32, "robotics");
    const args = ["book", "8", "--for", "1h", "--pool", "H100", "--yes"];
    const { code, out, err } = await inProcess(args, world.env());
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/fits +no: .*booked/);
    expect(err).toMatch(/CAUSE +NODES\nBUSY +4\n/);
    expect(err).toMatch(/earliest +\w{3} \d+ /);
    const line = /as soon as it fits:\n {2}berth (book .*)\n/.exec(err)?.[1] ?? "";
    expect(line).not.toContain("--yes");
    const again = await inProcess([...line.split(" "), "--dry-run"], world.env());
    expect(again.code, again.err).toBe(0);
    expect(again.out).toMatch(/fits +yes/);
  });

  it("gives the line for later though its own bookings use the quota up until then", async () => {
    await take(32, "vision");
    const args = ["book", "8", "--for", "1h", "--pool", "H100", "--yes"];
    const { code, err } = await inProcess(args, world.env());
    expect(code).toBe(3);
    expect(err).toMatch(/quota +no: /);
    const line = /as soon as it fits:\n {2}berth (book .*)\n/.exec(err)?.[1] ?? "";
    expect((await inProcess([...line.split(" "), "--dry-run"], world.env())).code).toBe(0);
  });

  it("passes the quota: says how much is left, status 3", async () => {
    const terms = { tenantId: "lab", poolId: world.pool("A100"), toTenantId: "speech" };
    await world.admin.pools.offer({ ...terms, quota: { gpu: 4 } });
    const speech = world.env({ BERTH_TOKEN: world.token("speech") });
    const args = ["book", "8", "--for", "1h", "--pool", "A100", "--yes"];
    const { code, out, err } = await inProcess(args, speech);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/quota +no: 8 gpu asked, 4 of 4 left in this window/);
    expect(err).toMatch(/with half as many, 4, it fits:\n {2}berth book 4 /);
  });

  it("lists what the GPUs report as their model when that is what is in the way", async () => {
    const args = ["book", "8", "--for", "1h", "--pool", "H100", "--model", "h100 80G", "--dry-run"];
    const { code, out } = await inProcess(args, world.env());
    expect(code).toBe(3);
    expect(out).toMatch(/models +the GPUs there report H100\n/);
  });

  it("offers what people give up first, each as a line that goes through", async () => {
    const args = ["book", "24", "--together", "rack", "--for", "1h", "--pool", "H100", "--dry-run"];
    const { code, out } = await inProcess(args, world.env());
    expect(code).toBe(3);
    const lines = [...out.matchAll(/^ {2}berth (book .*)$/gm)].map(([, line = ""]) =>
      line.split(" "),
    );
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect((await inProcess([...line, "--dry-run"], world.env())).code, line.join(" ")).toBe(0);
  });
});

it("a plan on one node of several says that it is one of them", async () => {
  const args = ["book", "8", "--for", "1h", "--pool", "H100", "--dry-run"];
  expect((await inProcess(args, world.env())).out).toMatch(/fits +yes, on one of h100-\d, h100-\d/);
});

describe("spot that would make way", () => {
  const args = ["8", "--for", "1h", "--pool", "H100"];
  const spot = () =>
    as("robotics").reservations.create({
      tenantId: "robotics",
      poolId: world.pool("H100"),
      devices: [{ class: "gpu", count: 8 }],
      gang: { size: 4 },
      duration: "1h",
      spot: true,
    });

  it("is in the plan, with the time that it starts, and is booked", async () => {
    await spot();
    const { code, out } = await inProcess(["book", ...args, "--dry-run"], world.env());
    expect(code).toBe(0);
    expect(out).toMatch(/fits +yes, once spot has made way/);
    expect(out).toMatch(/makes way +(?:at most )?1 spot booking, given notice; it starts /);
    const looked = await inProcess(["preview", ...args], world.env());
    expect(looked).toMatchObject({ code: 0, out: expect.stringMatching(/makes way +.*1 spot/) });
    const booked = await inProcess(["book", ...args, "--yes", "-o", "json"], world.env());
    expect(booked.code, booked.err).toBe(0);
    expect(JSON.parse(booked.out)).toMatchObject({ state: "scheduled", tenantId: "vision" });
  });

  it("is asked about at a terminal, by its start", async () => {
    await spot();
    const terminal = atTerminal(["book", ...args, "-o", "json"], world.env());
    await terminal.type("Book it", "y");
    const { code, err } = await terminal.ended;
    expect(code).toBe(0);
    const starts = /it starts (.*)/.exec(err)?.[1];
    expect(starts).toBeDefined();
    expect(err).toContain(`Book it, ${starts}?`);
  });
});

describe("at a terminal", () => {
  const args = [...SIXTEEN, "--pool", "H100", "-o", "json"];

  it("one yes books what the plan shows, and says what comes next", async () => {
    const terminal = atTerminal(args, world.env());
    await terminal.type("Book it", "y");
    const { code, out, err } = await terminal.ended;
    expect(code).toBe(0);
    const booked = JSON.parse(out) as Reservation;
    expect(booked).toMatchObject({ state: "active", gang: { size: 2, topologyKey: "rack" } });
    expect(err).toContain(`berth release ${booked.id}`);
    expect(await live()).toHaveLength(1);
  });

  it.each([
    ["Enter", "\r"],
    ["no", "n"],
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("%s books nothing", async (_name, key) => {
    const terminal = atTerminal(args, world.env());
    await terminal.type("Book it", key);
    const { code, out, err } = await terminal.ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("nothing was done");
    expect(await live()).toEqual([]);
  });

  it("Ctrl-D where a pool is to be chosen ends it, status 2", async () => {
    const terminal = atTerminal(["book", "8", "--for", "1h"], world.env());
    await terminal.type("in which?", "\u0004");
    const { code, err } = await terminal.ended;
    expect(code).toBe(2);
    expect(err).toContain("nothing was done");
  });

  it("chooses the pool where several would do", async () => {
    const terminal = atTerminal(["book", "8", "--for", "1h"], world.env());
    // The second of two, by the arrow that goes down.
    await terminal.type("in which?", "\u001b[B\r");
    await terminal.type("Book it", "y");
    const { code } = await terminal.ended;
    expect(code).toBe(0);
    expect(await live()).toHaveLength(1);
  });

  it("room that goes between plan and answer is told of, with the new plan; status 3", async () => {
    const terminal = atTerminal(["book", "32", "--for", "1h", "--pool", "H100"], world.env());
    await terminal.type("Book it", "");
    await take(8, "robotics");
    await terminal.type("Book it", "y");
    const { code, out, err } = await terminal.ended;
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/NO_CAPACITY somebody else took it .* since the plan: nothing was booked/);
    expect(err).toMatch(/fits +no: /);
    expect(err).toMatch(/as soon as it fits:\n {2}berth book 32 /);
  });
});

describe("without a terminal", () => {
  it("and without --yes it asks nothing of the server and names the flag, status 2", async () => {
    const { code, out, err } = await inProcess([...SIXTEEN, "--pool", "H100"], {
      ...world.env(),
      BERTH_URL: "http://127.0.0.1:1",
    });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("--yes");
  });

  it("says first what is wrong with what was typed", async () => {
    for (const [typed, says] of [
      [["x", "--for", "1h"], "the number of GPUs takes a whole number"],
      [["8"], "--for says how long"],
      [["8", "--for", "1h30"], "--for 1h30 ends without a unit: --for 1h30m"],
      [["8", "--for", "90"], "--for 90 has no unit: --for 90m, 90h or 90d"],
    ] as const) {
      const { code, err } = await inProcess(["book", ...typed], {});
      expect({ code, typed }).toEqual({ code: 2, typed });
      expect(err).toContain(says);
      expect(err).not.toContain("terminal");
    }
  });

  it("the same --key books once", async () => {
    const args = [
      "book",
      "8",
      "--for",
      "1h",
      "--pool",
      "H100",
      "--yes",
      "--key",
      "nightly",
      "-o",
      "json",
    ];
    const [one, two] = [await inProcess(args, world.env()), await inProcess(args, world.env())];
    expect(JSON.parse(two.out)).toMatchObject({ id: (JSON.parse(one.out) as Reservation).id });
    expect(await live()).toHaveLength(1);
  });
});

describe("a --key that may have booked", () => {
  const keyed = (key: string) => [
    ...["book", "32", "--for", "1h", "--pool", "H100", "--yes"],
    ...["--key", key, "-o", "json"],
  ];

  it("answers its booking, also when that is what fills the pool", async () => {
    const one = await inProcess(keyed("fills"), world.env());
    expect(one.code, one.err).toBe(0);
    const two = await inProcess(keyed("fills"), world.env());
    expect(two.code, two.err).toBe(0);
    expect(JSON.parse(two.out)).toMatchObject({ id: (JSON.parse(one.out) as Reservation).id });
    expect(two.err).not.toContain("fits");
  });

  it("that has not is refused with the plan, status 3", async () => {
    await take(32, "robotics");
    const { code, out, err } = await inProcess(keyed("late"), world.env());
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/fits +no: .*booked/);
    expect(err).not.toContain("somebody else took it");
  });
});

describe("the pool", () => {
  it("is the only one that it fits in", async () => {
    const args = ["book", "24", "--for", "1h", "--dry-run"];
    expect((await inProcess(args, world.env())).out).toContain("in H100");
  });

  it("whose label could be the id of another is named by its own id", () => {
    const pool = { id: "pool_7k", label: `pool_${"a".repeat(26)}` };
    expect(poolName(pool)).toBe("pool_7k");
    expect(poolName({ ...pool, label: "pool_a" })).toBe("pool_a");
  });

  it("has to be named when it fits in several: each has a line that goes through; status 2", async () => {
    const args = ["book", "8", "--for", "1h", "--dry-run"];
    const { code, out, err } = await inProcess(args, world.env());
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("--pool says which");
    const lines = [...err.matchAll(/^ {2}berth (.*)$/gm)].map(([, line = ""]) => line);
    expect(new Set(lines)).toEqual(
      new Set(["H100", "A100"].map((label) => `book 8 --for 1h --dry-run --pool ${label}`)),
    );
    for (const line of lines)
      expect((await inProcess(line.split(" "), world.env())).code, line).toBe(0);
  });

  it("is named by its id where another one has its label", async () => {
    const site = await world.admin.fleet.putSite({
      tenantId: "lab",
      name: "hall",
      region: "local",
    });
    const twin = await world.admin.pools.create({
      tenantId: "lab",
      siteId: site.id,
      class: "metal-host",
      policy: { label: "H100" },
    });
    const owner = { tenantId: "lab", role: "tenant-operator", name: "twins" } as const;
    const { secret } = await world.admin.access.createKey(owner);
    const env = world.env({ BERTH_TOKEN: secret });
    const { err } = await inProcess(["book", "8", "--for", "1h", "--yes"], env);
    await world.admin.pools.archive({ tenantId: "lab", poolId: twin.id });
    expect(err).toContain(`book 8 --for 1h --yes --pool ${world.pool("H100")}\n`);
    expect(err).toContain("book 8 --for 1h --yes --pool A100\n");
  });

  it("is none when it fits nowhere: each says why; status 3", async () => {
    const { code, err } = await inProcess(["book", "64", "--for", "1h", "--dry-run"], world.env());
    expect(code).toBe(3);
    expect(err).toContain("fits in none of the 2 pools");
  });

  it("that is not there is refused, and those that are there are listed", async () => {
    const args = ["book", "8", "--for", "1h", "--pool", "B200", "--dry-run"];
    const { code, err } = await inProcess(args, world.env());
    expect(code).toBe(2);
    expect(err).toContain('no pool is called "B200"');
    expect(err).toContain(world.pool("H100"));
  });
});

describe("what cannot be", () => {
  it.each([
    [["book", "many", "--for", "1h", "--yes"], /the number of GPUs takes a whole number/],
    [["book", "0", "--for", "1h", "--yes"], /at least 1/],
    [["book", "8", "--yes"], /--for says how long/],
    [["book", "16", "--together", "node", "--for", "1h", "--yes"], /more than the 8 of one node/],
    [
      ["book", "8", "--for", "1h", "--start", "tomorrow", "--yes"],
      /--start "tomorrow" names no hour/,
    ],
    [["book", "8", "--for", "1 month", "--pool", "H100", "--yes"], /duration/],
  ])("%j is refused in a sentence, status 2", async (args, says) => {
    const { code, out, err } = await inProcess(args, world.env());
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(says);
  });
});

describe("extending", () => {
  it("shows the old end and the new one, then asks", async () => {
    const { id, end } = await take(8, "vision");
    const terminal = atTerminal(["extend", id, "--until", "+2h", "-o", "json"], world.env());
    await terminal.type("Extend it by 2 h?", "y");
    const { code, out } = await terminal.ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id, end: end + 7_200_000 });
  });

  it("that is only tried says that nothing was changed, and -o json is the API's answer", async () => {
    const { id, end } = await take(8, "vision");
    const args = ["extend", id, "--until", "+2h", "--dry-run"];
    const { code, out } = await inProcess(args, world.env());
    expect(code).toBe(0);
    expect(out).toMatch(/^nothing was changed: this is what it would be\n/);
    const { out: json } = await inProcess([...args, "-o", "json"], world.env());
    expect(JSON.parse(json)).toMatchObject({ id, end: end + 7_200_000 });
    expect((await live())[0]?.end).toBe(end);
  });

  it("without room says how far it could go, with the line for that; status 3", async () => {
    const { id, end } = await take(32, "vision");
    await take(32, "robotics", end + 60_000);
    const { code, out, err } = await inProcess(
      ["extend", id, "--until", "+1h", "--yes"],
      world.env(),
    );
    expect({ code, out }).toEqual({ code: 3, out: "" });
    const line = /so +berth (extend .*)/.exec(err)?.[1]?.split(" ") ?? [];
    const again = await inProcess([...line, "--yes", "-o", "json"], world.env());
    expect(again.code, err).toBe(0);
    expect(JSON.parse(again.out)).toMatchObject({ end: end + 60_000 });
  });
});
