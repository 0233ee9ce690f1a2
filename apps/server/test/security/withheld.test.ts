/** A unit that a unit reservation withholds is, to who is not of its audience, one that does not exist. */
import type { MethodName } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary } from "../canary/canaries.ts";
import { type Fleet, type TestServer, canaries, node, pool, startServer } from "../harness.ts";
import { answerOf, askOf, surfacesOf } from "./surfaces.ts";

const NOWHERE = `unit_${"7".repeat(26)}`;
let server: TestServer;
let fleet: Fleet;
let units: string[];
let ursv: string;
beforeAll(async () => {
  server = await startServer({ clock: Date.UTC(2031, 4, 5, 9) });
  const plain = node("fenced", 4);
  const gpus = plain.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) }));
  fleet = await server.fleet({ ...pool(0, 0), nodes: [{ ...plain, gpus }] });
  const nodeId = String(fleet.nodeIds[0]);
  const found = await server.admin.fleet.getNode({ tenantId: fleet.owner, nodeId });
  units = found.units.map(({ id }) => id);
  for (const org of [fleet.owner, "t-m"]) canaries.allow(org, "platform");
  await server.token("t-m", "tenant-admin");
  const made = await server.admin.unitReservations.create({
    nodeId,
    unitIds: units.slice(0, 2),
    allowedOrgIds: ["t-a"],
    managingOrgIds: ["t-m"],
    reason: canary("platform"),
    contractRef: canary("platform"),
  });
  ursv = made.id;
});
afterAll(() => server.stop());

describe("naming a withheld unit is naming one that there is none of", () => {
  const devices = (unitIds: readonly unknown[]) => [
    { class: "gpu", count: unitIds.length, selector: { unitIds } },
  ];
  const ask = (unitIds: readonly unknown[], more: object = {}) => ({
    tenantId: "t-b",
    poolId: fleet.poolId,
    devices: devices(unitIds),
    duration: "1h",
    idempotencyKey: "fenced",
    ...more,
  });

  it.each<[MethodName, object]>([
    ["capacity.preview", {}],
    ["capacity.preview", { spot: true }],
    ["capacity.preview", { start: Date.UTC(2031, 4, 6) }],
    ["reservations.quote", {}],
    ["reservations.create", {}],
    ["reservations.create", { spot: true }],
  ])("to %s %o", async (method, more) => {
    const token = await server.token("t-b", "tenant-admin");
    for (const surface of surfacesOf(method))
      for (const beside of [[], [units[3]]]) {
        const say = (unitId: unknown) =>
          answerOf(server.url, askOf(surface, method, ask([unitId, ...beside], more)), token);
        const withheld = await say(units[0]);
        expect(await say(NOWHERE)).toEqual(withheld);
        if (beside.length === 0) expect(withheld.text).toContain('"SELECTOR"');
        expect(withheld.text).not.toContain("WITHHELD");
      }
  });

  it("while to its audience it is a unit", async () => {
    const token = await server.token("t-a", "tenant-admin");
    const input = { ...ask([units[0]]), tenantId: "t-a" };
    const { text } = await answerOf(server.url, askOf("HTTP", "capacity.preview", input), token);
    expect(JSON.parse(text)).toMatchObject({ fits: true });
  });
});

describe("an org does with a unit reservation what it is for, and no more", () => {
  const of = () => ({ nodeId: fleet.nodeIds[0], reservationId: ursv });
  const create = () => ({
    nodeId: fleet.nodeIds[0],
    unitIds: units.slice(3),
    allowedOrgIds: ["t-m"],
  });
  const rows = () => server.database.sql`select to_jsonb(u) as row from unit_reservations u`;

  async function codes(method: MethodName, input: object, tenantId: string): Promise<string[]> {
    const token = await server.token(tenantId, "tenant-admin");
    const asks = surfacesOf(method).map((surface) => askOf(surface, method, input));
    return Promise.all(asks.map(async (one) => (await answerOf(server.url, one, token)).code));
  }

  it.each(["t-m", "t-own"])(
    "%s, who manages it, does not make, cancel or reaffirm any",
    async (org) => {
      const before = await rows();
      expect(await codes("unitReservations.create", create(), org)).toEqual(
        Array(3).fill("FORBIDDEN"),
      );
      for (const method of ["unitReservations.cancel", "unitReservations.reaffirm"] as const)
        expect(await codes(method, of(), org)).toEqual(Array(3).fill("FORBIDDEN"));
      expect(await rows()).toEqual(before);
      expect(await codes("unitReservations.get", of(), org)).toEqual(Array(3).fill("OK"));
    },
  );

  it.each(["t-a", "t-b"])(
    "to %s, who may book the units at most, it does not exist",
    async (org) => {
      const before = await rows();
      for (const method of [
        "unitReservations.get",
        "unitReservations.release",
        "unitReservations.reclaim",
        "unitReservations.cancel",
        "unitReservations.reaffirm",
      ] as const)
        expect([method, await codes(method, of(), org)]).toEqual([
          method,
          Array(3).fill("NOT_FOUND"),
        ]);
      expect(await codes("unitReservations.create", create(), org)).toEqual(
        Array(3).fill("NOT_FOUND"),
      );
      expect(await rows()).toEqual(before);
    },
  );
});
