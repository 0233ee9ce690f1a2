/** What a tenant may not know of answers, byte for byte, as what is not there. */
import type { MethodName } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { type Asker, HOUR, NOW, asker, bookGpus, refusal } from "./asking.ts";
import { expectEmptyAfterRelease } from "./invariants.ts";
import type { Reservation } from "@berth/client";

const NO_POOL = `pool_${"7".repeat(26)}`;
const NO_RESERVATION = `rsv_${"7".repeat(26)}`;
const NO_TENANT = "t-nobody-at-all";
/** What differs between any two answers, and between none of what they say. */
const VOLATILE = new Set(["x-request-id", "date", "ratelimit", "connection", "keep-alive"]);

let server: TestServer;
let fleet: Fleet;
let archived: Fleet;
let a: Asker;
let mine: Reservation;
/** Keys of the stranger t-c and of the guest t-b, with all that their own tenant can give them. */
let stranger: string;
let guest: string;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
  fleet = await server.fleet(pool(1, 8, { owner: "t-a", offers: { "t-b": { gpu: 8 } } }));
  archived = await server.fleet(pool(1, 8, { owner: "t-a", offers: { "t-b": { gpu: 8 } } }));
  await server.admin.pools.archive({ tenantId: "t-a", poolId: archived.poolId });
  a = await asker(server, "t-a", fleet);
  mine = await bookGpus(a, 2, { leaseSeconds: 600 });
  stranger = await server.token("t-c", "tenant-admin");
  guest = await server.token("t-b", "tenant-admin");
});
afterAll(() => server.stop());

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

const SURFACES = {
  HTTP: (method: string, input: object) =>
    [`/api/compute/${method.replace(".", "/")}`, input] as const,
  tRPC: (method: string, input: object) => [`/trpc/${method}`, { json: input }] as const,
};

/** Status, headers and body as sent, without the request's id. */
async function answerOf(
  surface: keyof typeof SURFACES,
  [method, input]: readonly [MethodName, object],
  token: string,
): Promise<Answer> {
  const [path, body] = SURFACES[surface](method, input);
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const id = response.headers.get("x-request-id") ?? "";
  if (response.status >= 400) expect(text).toContain(id);
  const headers = [...response.headers].filter(([name]) => !VOLATILE.has(name));
  return { status: response.status, headers, text: text.replaceAll(id, "ID") };
}

const booking = { devices: [{ class: "gpu", count: 1 }], duration: "1h", idempotencyKey: "k" };

/** Every call that names a pool, at its plainest and where a pool in sight would have been looked at. */
function callsOnPool(tenantId: string, poolId: string): (readonly [MethodName, object])[] {
  const at = { tenantId, poolId };
  return [
    ["pools.get", at],
    ["pools.capacity", at],
    ["pools.offer", { ...at, toTenantId: "t-c", quota: { gpu: 1 } }],
    ["pools.offer", { ...at, toTenantId: NO_TENANT, quota: { gpu: 1 } }],
    ["pools.unoffer", { ...at, toTenantId: "t-b" }],
    ["pools.unoffer", { ...at, toTenantId: "t-a" }],
    ["pools.update", { ...at, gpuModel: "H200" }],
    ["pools.update", { ...at, policy: { migLayout: { A100: ["1g.5gb"] } } }],
    ["pools.update", { ...at, policy: { singleTenant: true } }],
    ["pools.archive", at],
    ["capacity.byPool", at],
    ["capacity.preview", { ...at, ...booking }],
    ["capacity.preview", { ...at, ...booking, duration: "400d" }],
    ["capacity.preview", { ...at, ...booking, start: 1 }],
    ["capacity.preview", { ...at, ...booking, spot: true }],
    ["capacity.timeline", at],
    ["capacity.timeline", { ...at, from: NOW, to: NOW }],
    ["capacity.timeline", { ...at, from: NOW, to: NOW + 8 * 24 * HOUR }],
    ["capacity.timeline", { ...at, stepMinutes: 4 }],
    ["reservations.create", { ...at, ...booking }],
    ["reservations.create", { ...at, ...booking, duration: "400d" }],
    ["reservations.create", { ...at, ...booking, devices: [{ class: "gpu", count: 64 }] }],
    ["reservations.quote", { ...at, ...booking }],
    ["reservations.list", at],
    ["events.list", at],
    ["fleet.listNodes", at],
  ];
}

/** Of these the answer is an empty list. */
const ANSWERED_ALIKE = new Set(["reservations.list", "events.list", "fleet.listNodes"]);
/** Refused for itself, before anybody's role is looked at: the steps, the span, the order of the times. */
const UNPARSED = (input: object) => "stepMinutes" in input || "to" in input;
/** What a caller with a role on the tenant is told of a pool that it does not see. */
const statusOf = (input: object) => (UNPARSED(input) ? 400 : 404);

describe.each(Object.keys(SURFACES) as (keyof typeof SURFACES)[])("over %s", (surface) => {
  it("a pool that is not offered is, to a stranger, one that does not exist", async () => {
    for (const [index, call] of callsOnPool("t-c", fleet.poolId).entries()) {
      const hidden = await answerOf(surface, call, stranger);
      const missing = callsOnPool("t-c", NO_POOL)[index];
      if (!missing) throw new Error("both lists are of one length");
      expect({ call, ...(await answerOf(surface, missing, stranger)) }).toEqual({
        call,
        ...hidden,
      });
      if (ANSWERED_ALIKE.has(call[0])) expect(hidden.status).toBe(200);
      else expect([call, hidden.status]).toEqual([call, statusOf(call[1])]);
      expect(hidden.text).not.toContain(fleet.poolId);
    }
  });

  it("an archived pool is, to its former guest, one that does not exist", async () => {
    for (const [index, call] of callsOnPool("t-b", archived.poolId).entries()) {
      // What it was told while it saw the pool stays its own.
      if (call[0] === "events.list") continue;
      const hidden = await answerOf(surface, call, guest);
      const missing = callsOnPool("t-b", NO_POOL)[index];
      if (!missing) throw new Error("both lists are of one length");
      expect({ call, ...(await answerOf(surface, missing, guest)) }).toEqual({ call, ...hidden });
    }
  });

  it("what only the owner does with a pool does not exist for its guest", async () => {
    const owners = callsOnPool("t-b", fleet.poolId).filter(([method]) =>
      ["pools.offer", "pools.unoffer", "pools.update", "pools.archive"].includes(method),
    );
    expect(owners).toHaveLength(8);
    for (const call of owners) {
      const [method, input] = call;
      const hidden = await answerOf(surface, call, guest);
      const missing = await answerOf(surface, [method, { ...input, poolId: NO_POOL }], guest);
      expect([call, hidden.status]).toEqual([call, statusOf(input)]);
      expect(missing).toEqual(hidden);
    }
  });

  it("another tenant's reservation is one that does not exist, to guest and stranger", async () => {
    const asked: readonly (readonly ["t-b" | "t-c", string])[] = [
      ["t-b", guest],
      ["t-c", stranger],
    ];
    for (const [tenantId, token] of asked) {
      const calls = (reservationId: string): (readonly [MethodName, object])[] => {
        const at = { tenantId, reservationId };
        return [
          ["reservations.get", at],
          ["reservations.renew", at],
          ["reservations.renew", { ...at, version: 99 }],
          ["reservations.release", at],
          ["reservations.extend", { ...at, end: mine.end + HOUR }],
          ["reservations.extend", { ...at, end: 1 }],
          ["reservations.extend", { ...at, end: mine.end + HOUR, dryRun: true }],
          ["reservations.terminate", { ...at, reason: "mine now" }],
          ["events.list", at],
        ];
      };
      for (const [index, call] of calls(mine.id).entries()) {
        const hidden = await answerOf(surface, call, token);
        const missing = calls(NO_RESERVATION)[index];
        if (!missing) throw new Error("both lists are of one length");
        expect({ call, ...(await answerOf(surface, missing, token)) }).toEqual({ call, ...hidden });
        expect([call, hidden.status]).toEqual([call, call[0] === "events.list" ? 200 : 404]);
      }
    }
  });

  it("a tenant on which the caller has no role is one that does not exist", async () => {
    const calls = (tenantId: string): (readonly [MethodName, object])[] => [
      ...callsOnPool(tenantId, fleet.poolId),
      ["reservations.get", { tenantId, reservationId: mine.id }],
      ["reservations.renew", { tenantId, reservationId: mine.id }],
      ["reservations.release", { tenantId, reservationId: mine.id }],
      ["pools.list", { tenantId }],
      ["capacity.summary", { tenantId }],
      ["reservations.list", { tenantId }],
    ];
    for (const [index, call] of calls("t-a").entries()) {
      const hidden = await answerOf(surface, call, stranger);
      const missing = calls(NO_TENANT)[index];
      if (!missing) throw new Error("both lists are of one length");
      expect({ call, ...(await answerOf(surface, missing, stranger)) }).toEqual({
        call,
        ...hidden,
      });
      expect([call, hidden.status]).toEqual([call, UNPARSED(call[1]) ? 400 : 404]);
    }
  });
});

describe("after all that was tried", () => {
  it("reservation and pool are as they were", async () => {
    const { berth } = a;
    expect(await berth.reservations.get({ tenantId: "t-a", reservationId: mine.id })).toEqual(mine);
    const seen = await berth.pools.get({ tenantId: "t-a", poolId: fleet.poolId });
    expect(seen).toMatchObject({ version: 1, archived: false, gpuModel: "H100" });
    expect(seen.offers?.map(({ tenantId }) => tenantId)).toEqual(["t-b"]);
  });

  it("a key of its own tenant that may less is told so, not that there is nothing", async () => {
    const viewer = await server.as("t-a", "tenant-viewer");
    const { poolId } = fleet;
    const update = viewer.pools.update({ tenantId: "t-a", poolId, gpuModel: "H200" });
    expect((await refusal(update)).code).toBe("FORBIDDEN");
    const asViewer: Asker = { berth: viewer, tenantId: "t-a", poolId };
    expect((await refusal(bookGpus(asViewer, 1))).code).toBe("FORBIDDEN");
    await expectEmptyAfterRelease(server, fleet);
  });
});
