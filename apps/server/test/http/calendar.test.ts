/** Read by a calendar program's own parser, with its own way of signing in. */
import ICAL from "ical.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";

const HOUR = 3_600_000;
/** What the format has marks of its own for, and letters that fill more than a line of 75 octets. */
const NODE = `Lüge; \\n, "名前" ${"ö".repeat(60)}`;

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer();
  fleet = await server.fleet(pool(0, 0, { nodes: [node(NODE, 9)] }));
});
afterAll(() => server.stop());

const basic = (password: string): string =>
  `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}`;

async function subscribe(query: string, authorization?: string): Promise<Response> {
  return fetch(`${server.url}/calendar.ics${query}`, {
    headers: authorization === undefined ? {} : { authorization },
  });
}

async function entries(answer: Response): Promise<ICAL.Event[]> {
  const parsed = new ICAL.Component(ICAL.parse(await answer.text()) as unknown[]);
  return parsed.getAllSubcomponents("vevent").map((component) => new ICAL.Event(component));
}

it("has a tenant's bookings with their times, places and ids; a changed one is the same entry", async () => {
  const berth = await server.as("t-own");
  const start = Math.ceil(Date.now() / HOUR) * HOUR + HOUR;
  const ask = { tenantId: "t-own", poolId: fleet.poolId, start, duration: "2h" };
  const made = await berth.reservations.create({
    ...ask,
    devices: [{ class: "gpu", count: 8 }],
  });
  const gone = await berth.reservations.create({
    ...ask,
    devices: [{ class: "gpu", count: 1 }],
  });
  await berth.reservations.release({ tenantId: "t-own", reservationId: gone.id });
  const token = await server.token("t-own");
  const answer = await subscribe("?tenantId=t-own", basic(token));
  expect(answer.headers.get("content-type")).toMatch(/^text\/calendar; charset=utf-8/);
  const [first, second, ...others] = (await entries(answer)).toSorted((a, b) =>
    a.uid === `${made.id}@berth` ? -1 : b.uid === a.uid ? 0 : 1,
  );
  expect(others).toEqual([]);
  expect(first?.uid).toBe(`${made.id}@berth`);
  expect(first?.startDate.toJSDate().getTime()).toBe(start);
  expect(first?.endDate.toJSDate().getTime()).toBe(start + 2 * HOUR);
  expect(first?.summary).toMatch(/^8 gpu in /);
  expect(first?.description).toContain(`On ${NODE}`);
  expect(second?.uid).toBe(`${gone.id}@berth`);
  expect(second?.component.getFirstPropertyValue("status")).toBe("CANCELLED");

  const end = start + 3 * HOUR;
  await berth.reservations.extend({ tenantId: "t-own", reservationId: made.id, end });
  const again = await entries(await subscribe("?tenantId=t-own", `Bearer ${token}`));
  const same = again.find(({ uid }) => uid === `${made.id}@berth`);
  expect(same?.endDate.toJSDate().getTime()).toBe(end);
  expect(same?.sequence).toBeGreaterThan(first?.sequence ?? Infinity);
});

it("has every booking once where there are more than are written in one turn", async () => {
  const [berth, token] = [await server.as("t-a"), await server.token("t-a")];
  const ids: string[] = [];
  for (let n = 0; n < 25; n += 1) {
    const ask = { tenantId: "t-a", poolId: fleet.poolId, start: Date.now() + (n + 10) * HOUR };
    const devices = [{ class: "gpu" as const, count: 1 }];
    ids.push((await berth.reservations.create({ ...ask, devices, duration: "1h" })).id);
  }
  const told = await entries(await subscribe("?tenantId=t-a", basic(token)));
  expect(told.map(({ uid }) => uid).toSorted()).toEqual(ids.map((id) => `${id}@berth`).toSorted());
});

it("asks who has no key, or a wrong one, for a password, and tells nothing of other tenants", async () => {
  await server.as("t-else");
  const stranger = await subscribe("?tenantId=t-own");
  expect(stranger.status).toBe(401);
  expect(stranger.headers.get("www-authenticate")).toMatch(/^Basic realm="berth"/);
  expect((await subscribe("?tenantId=t-own", basic("berth_wrong"))).status).toBe(401);
  expect((await subscribe("?tenantId=t-own", "Basic !")).status).toBe(401);
  const other = basic(await server.token("t-else"));
  const hidden = await subscribe("?tenantId=t-own", other);
  const missing = await subscribe("?tenantId=t-none", other);
  expect([hidden.status, missing.status]).toEqual([404, 404]);
  expect(await entries(await subscribe("?tenantId=t-else", other))).toEqual([]);
});

it("says which field is wrong", async () => {
  const token = basic(await server.token("t-own"));
  for (const [query, path] of [
    ["", "tenantId"],
    ["?tenantId=t-own&tenantId=t-own", "tenantId"],
    ["?tenantId=t-own&from=1", "from"],
    ["?tenantId=t-own&poolId=x", "poolId"],
  ]) {
    const answer = await subscribe(query ?? "", token);
    expect(answer.status, query).toBe(400);
    expect(await answer.json(), query).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: [path] }],
    });
  }
});
