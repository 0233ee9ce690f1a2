/** Who may know of a unit reservation and do what with it, and what everyone else sees of its units. */
import type { Output } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Method } from "../../call.ts";
import { createApi } from "../../root.ts";
import { HOUR } from "../test-kit.ts";
import { type Fence, type Machine, UnitsApi, of } from "./test-kit.ts";

let it_: UnitsApi;
beforeAll(async () => {
  it_ = await UnitsApi.open();
});
afterAll(() => it_.close());

const READS = ["get", "list"] as const;
const SELLS = ["release", "reclaim"] as const;
const OPERATES = ["create", "cancel", "reaffirm"] as const;
type Call = (typeof READS)[number] | (typeof SELLS)[number] | (typeof OPERATES)[number];

function inputOf(call: Call, { nodeId, units }: Machine, made: Fence): object {
  if (call === "list") return { nodeId };
  if (call === "create") return { nodeId, unitIds: units.slice(3), allowedOrgIds: ["t-a"] };
  return of(made);
}

describe("a unit reservation", () => {
  let machine: Machine;
  let made: Fence;
  beforeAll(async () => {
    machine = await it_.machine(4);
    made = await it_.fence(machine, { managingOrgIds: ["t-m"] });
  });

  const code = async (call: Call, token: string) =>
    (await it_.api.test.outcome(`unitReservations.${call}`, inputOf(call, machine, made), token))
      .code;

  for (const [who, tenant] of Object.entries({
    "the node's owner": "t-own",
    "a managing org": "t-m",
  }))
    it(`is read, released and reclaimed by ${who}, who may not make, cancel or reaffirm it`, async () => {
      const admin = await it_.key(tenant);
      for (const call of [...READS, ...SELLS])
        expect([call, await code(call, admin)]).toEqual([call, "OK"]);
      for (const call of OPERATES)
        expect([call, await code(call, admin)]).toEqual([call, "FORBIDDEN"]);
      for (const role of ["tenant-viewer", "tenant-operator"]) {
        const weaker = await it_.key(tenant, role);
        for (const call of READS) expect([call, await code(call, weaker)]).toEqual([call, "OK"]);
        for (const call of [...SELLS, ...OPERATES])
          expect([call, await code(call, weaker)]).toEqual([call, "FORBIDDEN"]);
      }
    });

  it("is to the audience, and to every other tenant, one that does not exist", async () => {
    const nowhere = `node_${"0".repeat(26)}`;
    const none = `ursv_${"0".repeat(26)}`;
    const others = { ...machine, nodeId: nowhere };
    for (const tenant of ["t-a", "t-b", "t-child"]) {
      const token = await it_.key(tenant);
      for (const call of [...READS, ...SELLS, ...OPERATES]) {
        const method: Method = `unitReservations.${call}`;
        const theirs = await it_.api.test.outcome(method, inputOf(call, machine, made), token);
        expect([call, theirs.code]).toEqual([call, "NOT_FOUND"]);
        const random = await it_.api.test.outcome(
          method,
          inputOf(call, others, { ...made, nodeId: nowhere, id: none }),
          token,
        );
        expect(random).toEqual(theirs);
      }
      const all = await it_.api.test.outcome("unitReservations.list", {}, token);
      expect(all.output).toEqual({ reservations: [], nextCursor: null });
    }
  });

  it("is not found under another node, and not under another id of its node, whoever asks", async () => {
    const other = await it_.machine(1);
    for (const token of [it_.api.test.admin, await it_.key("t-own")])
      for (const wrong of [
        { ...of(made), nodeId: other.nodeId },
        { ...of(made), reservationId: `ursv_${"0".repeat(26)}` },
      ])
        expect(await it_.api.test.outcome("unitReservations.get", wrong, token)).toMatchObject({
          code: "NOT_FOUND",
        });
  });

  it("is listed to its operator, its node's owner and its managing org, and of others only their own", async () => {
    // Newest first: those of one millisecond are in no order that a test may know.
    await it_.api.clock.advance(1);
    const fenced = await it_.machine(4);
    const managed = await it_.fence(fenced, { managingOrgIds: ["t-m"] });
    await it_.api.clock.advance(1);
    const plain = await it_.fence(fenced, { unitIds: fenced.units.slice(2) });
    const seen = async (tenant: string, ask: object = { nodeId: fenced.nodeId }) => {
      const token = await it_.key(tenant);
      const { output } = await it_.api.test.outcome("unitReservations.list", ask, token);
      return (output as Output<"unitReservations.list">).reservations.map(({ id }) => id);
    };
    expect(await seen("t-own")).toEqual([plain.id, managed.id]);
    expect(await seen("t-m")).toEqual([managed.id]);
    expect(await seen("t-m", {})).toEqual([managed.id, made.id]);
    expect((await seen("t-own", {})).slice(0, 2)).toEqual([plain.id, managed.id]);
  });

  it("is out of reach of a key whose pools or actions leave it out", async () => {
    const outcome = async (scope: object, call: Call) => {
      const token = await it_.key("t-own", "tenant-admin", { ...scope });
      return code(call, token);
    };
    const elsewhere = await it_.api.pool(0, 0);
    expect(await outcome({ poolIds: [elsewhere] }, "get")).toBe("NOT_FOUND");
    expect(await outcome({ poolIds: [machine.poolId] }, "get")).toBe("OK");
    expect(await outcome({ actions: ["compute:units:read"] }, "get")).toBe("OK");
    expect(await outcome({ actions: ["compute:units:read"] }, "release")).toBe("FORBIDDEN");
    expect(await outcome({ actions: ["compute:pools:read"] }, "list")).toBe("FORBIDDEN");
  });

  it("is told of to operator, owner and managing org, and to nobody of its audience", async () => {
    const told = async (tenantId: string) =>
      (await it_.api.events(tenantId, machine.poolId)).filter((type) =>
        type.startsWith("unitReservation."),
      );
    for (const tenant of ["platform", "t-own", "t-m"])
      expect((await told(tenant))[0]).toBe("unitReservation.created");
    for (const tenant of ["t-a", "t-b"]) expect(await told(tenant)).toEqual([]);
  });

  it("is refused without a platform org, whatever is asked and whoever asks", async () => {
    const { deps, admin } = it_.api.test;
    const api = createApi({ ...deps, options: { ...deps.options, platformOrg: null } });
    for (const call of [...READS, ...SELLS, ...OPERATES])
      for (const token of [admin, await it_.key("t-b")]) {
        const refused = api.invoke({
          method: `unitReservations.${call}`,
          rawInput: () => Promise.resolve(inputOf(call, machine, made)),
          context: api.context({ token, requestId: "off" }),
        });
        await expect(refused).rejects.toMatchObject({ code: "INVALID_STATE" });
      }
    await api.stop();
  });
});

describe("the units that are set aside", () => {
  type Node = Output<"fleet.listNodes">["nodes"][number];

  const asTenant = async <M extends Method>(method: M, tenantId: string, input: object) =>
    (await it_.api.test.invoke(
      method,
      { tenantId, ...input },
      await it_.key(tenantId),
    )) as Output<M>;

  /** The pool's gpu row, the same in all three reads. */
  async function row(poolId: string, tenantId: string) {
    const { capacity } = await asTenant("capacity.byPool", tenantId, { poolId });
    const twin = await asTenant("pools.capacity", tenantId, { poolId });
    const { pools } = await asTenant("capacity.summary", tenantId, {});
    expect(twin.capacity).toEqual(capacity);
    expect(pools.find((pool) => pool.poolId === poolId)?.capacity).toEqual(capacity);
    const gpu = capacity.find(({ resource }) => resource === "gpu");
    if (!gpu) throw new Error("no gpu row");
    return [gpu.total, gpu.allocated, gpu.reserved, gpu.available];
  }

  const shown = async (machine: Machine, tenantId: string) => {
    const { poolId, nodeId } = machine;
    const { nodes } = await asTenant("fleet.listNodes", tenantId, { poolId });
    const node = nodes[0] as Node;
    const one = await asTenant("fleet.getNode", tenantId, { nodeId });
    expect(one.units.map(({ id }) => id)).toEqual(node.units.map(({ id }) => id));
    return node.units.map(({ id, spans }) => [
      machine.units.indexOf(id),
      ...spans.map(({ kind }) => kind),
    ]);
  };

  it("count once as reserved to outsiders while the term runs, whatever is booked on them", async () => {
    const machine = await it_.machine(4);
    await it_.fence(machine);
    expect(await row(machine.poolId, "t-a")).toEqual([4, 0, 0, 4]);
    expect(await row(machine.poolId, "t-b")).toEqual([4, 0, 2, 2]);
    await it_.api.call(
      "reservations.create",
      it_.wish(machine, "t-a", { unitIds: machine.units.slice(0, 1) }),
    );
    await it_.api.call(
      "reservations.create",
      it_.wish(machine, "t-b", { unitIds: machine.units.slice(3) }),
    );
    expect(await row(machine.poolId, "t-a")).toEqual([4, 2, 0, 2]);
    expect(await row(machine.poolId, "t-b")).toEqual([4, 1, 2, 1]);
  });

  it("count for outsiders as booked in the timeline, for as long as the term lasts", async () => {
    const machine = await it_.machine(4);
    const from = Math.ceil((await it_.api.clock.now()) / HOUR) * HOUR;
    const term = [2, 4].map((hours) => new Date(from + hours * HOUR).toISOString());
    await it_.fence(machine, { startsAt: term[0], endsAt: term[1] });
    const booked = async (tenantId: string) => {
      const ask = { poolId: machine.poolId, from, to: from + 6 * HOUR };
      const { buckets } = await asTenant("capacity.timeline", tenantId, ask);
      return buckets.map((bucket) => bucket.booked);
    };
    expect(await booked("t-b")).toEqual([0, 0, 2, 2, 0, 0]);
    expect(await booked("t-a")).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await row(machine.poolId, "t-b")).toEqual([4, 0, 0, 4]);
  });

  it("are not shown to outsiders while the term runs, and as busy in a term ahead", async () => {
    const machine = await it_.machine(3);
    await it_.fence(machine, { unitIds: machine.units.slice(0, 1) });
    const startsAt = new Date((await it_.api.clock.now()) + HOUR).toISOString();
    await it_.fence(machine, { unitIds: machine.units.slice(1, 2), startsAt });
    expect(await shown(machine, "t-b")).toEqual([[1, "busy"], [2]]);
    expect(await shown(machine, "t-a")).toEqual([[0], [1], [2]]);
    expect(await shown(machine, "t-own")).toEqual([[0, "withheld"], [1, "withheld"], [2]]);
  });

  it("are shown to everyone while they are on the spot market, and to nobody while a review is needed", async () => {
    const machine = await it_.machine(3);
    const made = await it_.fence(machine, { unitIds: machine.units.slice(0, 2) });
    await it_.api.call("unitReservations.release", {
      ...of(made),
      unitIds: machine.units.slice(0, 1),
    });
    expect(await shown(machine, "t-b")).toEqual([[0], [2]]);
    expect(await row(machine.poolId, "t-b")).toEqual([3, 0, 1, 2]);
    const { name } = await asTenant("fleet.getNode", "t-own", { nodeId: machine.nodeId });
    const { gpus, ...report } = it_.report(name, 3);
    const nodes = [{ ...report, gpus: gpus.toReversed().map((gpu, index) => ({ ...gpu, index })) }];
    await it_.api.call("fleet.putNodes", { siteId: it_.api.siteId, nodes });
    for (const tenant of ["t-a", "t-b"]) {
      expect(await shown(machine, tenant)).toEqual([[2]]);
      expect(await row(machine.poolId, tenant)).toEqual([3, 0, 2, 1]);
    }
  });

  it("are to outsiders units that there are none of, in what they ask for and in the reason", async () => {
    const machine = await it_.machine(2);
    await it_.fence(machine, { unitIds: machine.units.slice(0, 1) });
    const reason = async (unitId: string | undefined) => {
      const wish = it_.wish(machine, "t-b", { unitIds: [unitId] });
      const { reason: said } = await asTenant("capacity.preview", "t-b", wish);
      return said;
    };
    expect(await reason(machine.units[0])).toEqual(await reason(`unit_${"0".repeat(26)}`));
    expect(await reason(machine.units[0])).toMatchObject({ code: "SELECTOR" });
    const two = it_.api.wish(machine.poolId, 2, { tenantId: "t-b" });
    const { reason: said } = await asTenant("capacity.preview", "t-b", two);
    expect(said).toMatchObject({ code: "BUSY", blocked: [{ cause: "BUSY", nodes: 1 }] });
  });
});
