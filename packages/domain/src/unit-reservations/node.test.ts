import { describe, expect, it } from "vitest";
import { moveNode, removeNode } from "../fleet/move-node.ts";
import { nodeIdOf, putNodes } from "../fleet/put-nodes.ts";
import { settleNode } from "../fleet/settle.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  derive,
  gpuPool,
  nodeId,
  poolConfig,
  refused,
  turnOn,
} from "../reservations/test-kit.ts";
import { cancelUnitReservation } from "./end.ts";
import { reclaimUnits } from "./reclaim.ts";
import { releaseUnits } from "./release.ts";
import { reaffirmUnitReservation } from "./review.ts";
import { book, exactly, fencedTurn, of, setAside, standing } from "./test-kit.ts";

describe("a node whose GPUs change", () => {
  const ID = nodeIdOf("site_00000000000000000000000000", "a", derive);
  const gpu = (index: number) => ({
    uuid: `GPU-${index}`,
    index,
    model: "H100",
    vfioGroup: String(index),
  });
  const all = [0, 1, 2, 3].map(gpu);

  function report(turn: TestTurn, gpus: readonly object[]): void {
    const node = { name: "a", gpus: gpus as (typeof all)[number][] };
    const siteId = "site_00000000000000000000000000";
    const ask = { siteId, ownerId: "t-own", nodes: [{ id: ID, report: node }] } as const;
    accepted(putNodes(turn, ask));
  }

  /** GPUs 0 and 1 of four are t-a's. */
  function reported(given: Parameters<typeof setAside>[1] = {}) {
    const turn = turnOn(gpuPool(0, 0));
    report(turn, all);
    const ids = turn.state.node(ID)?.units.map((unit) => unit.id) ?? [];
    const made = setAside(turn, { nodeId: ID, unitIds: ids.slice(0, 2), ...given });
    turn.takeEvents();
    return { turn, made, ids };
  }

  it("puts its unit reservations up for review; the same report again does not", () => {
    const { turn, made } = reported();
    report(turn, all);
    expect(standing(turn, made)?.status).toBe("active");
    report(turn, all.slice(1));
    expect(standing(turn, made)).toMatchObject({ status: "needs-review", topologyGen: 1 });
    expect(turn.takeEvents()).toContain("unitReservation.needsReview");
  });

  it("withholds the units from everyone, slides to no other, and leaves the rest bookable", () => {
    const { turn, ids } = reported();
    report(turn, all.slice(1));
    for (const tenant of ["t-a", "t-b"])
      for (const spot of [false, true])
        for (const unitId_ of ids.slice(0, 2))
          expect(book(turn, tenant, { ...exactly([unitId_]), spot }).ok).toBe(false);
    expect(book(turn, "t-b", exactly(ids.slice(2))).ok).toBe(true);
  });

  it("keeps a unit that is set aside as removed, until nothing speaks for it", () => {
    const { turn, made, ids } = reported();
    report(turn, all.slice(1));
    const first = () => turn.state.node(ID)?.units.find(({ id }) => id === ids[0]);
    expect(first()).toMatchObject({ removed: true });
    settleNode(turn, ID);
    expect(first()).toMatchObject({ removed: true });
    accepted(cancelUnitReservation(turn, of(made)));
    expect(first()).toBeUndefined();
  });

  it("is reaffirmed once every unit is there again, at the node's generation by then", () => {
    const { turn, made, ids } = reported();
    report(turn, all.slice(1));
    expect(refused(reaffirmUnitReservation(turn, of(made)))).toMatchObject({
      code: "INVALID_STATE",
      message: expect.stringContaining(String(ids[0])),
    });
    report(turn, all);
    expect(standing(turn, made)?.status).toBe("needs-review");
    expect(accepted(reaffirmUnitReservation(turn, of(made)))).toMatchObject({
      status: "active",
      topologyGen: 3,
    });
    expect(book(turn, "t-a", exactly(ids.slice(0, 1))).ok).toBe(true);
    expect(book(turn, "t-b", exactly(ids.slice(1, 2))).ok).toBe(false);
    expect(turn.takeEvents()).toContain("unitReservation.reaffirmed");
  });

  it("is not reaffirmed while a unit no longer qualifies", () => {
    const { turn, made, ids } = reported();
    report(turn, [{ ...gpu(0), vfioGroup: undefined }, ...all.slice(1)]);
    expect(refused(reaffirmUnitReservation(turn, of(made)))).toMatchObject({
      code: "INVALID_STATE",
      message: expect.stringContaining(String(ids[0])),
    });
  });

  it("answers a reaffirm that is not needed unchanged", () => {
    const { turn, made } = reported();
    expect(accepted(reaffirmUnitReservation(turn, of(made)))).toEqual(made);
    expect(turn.takeEvents()).toEqual([]);
  });

  it("puts one whose term lies ahead up for review too: it goes back to waiting for its term", () => {
    const { turn, made } = reported({ startsAt: NOW + HOUR });
    report(turn, all.slice(0, 3));
    turn.moveTo(NOW + HOUR - 1);
    expect(standing(turn, made)?.status).toBe("needs-review");
    expect(accepted(reaffirmUnitReservation(turn, of(made))).status).toBe("pending");
    turn.moveTo(NOW + HOUR);
    expect(standing(turn, made)?.status).toBe("active");
  });

  it("lets one that needs a review end at its end", () => {
    const { turn, made } = reported({ endsAt: NOW + HOUR });
    report(turn, all.slice(0, 3));
    turn.moveTo(NOW + HOUR);
    expect(turn.changes.at(-1)?.after).toMatchObject({ id: made.id, status: "expired" });
  });

  it("refuses to release while a review is needed, and lets units be taken back", () => {
    const { turn, made, ids } = reported();
    accepted(releaseUnits(turn, { ...of(made), unitIds: ids.slice(0, 1) }));
    const spot = accepted(book(turn, "t-b", { ...exactly(ids.slice(0, 1)), spot: true }));
    report(turn, all.slice(0, 3));
    expect(refused(releaseUnits(turn, of(made)))).toMatchObject({ code: "INVALID_STATE" });
    expect(accepted(reclaimUnits(turn, of(made))).plan.terminate).toEqual([spot.id]);
  });

  it("flags bookings on the units as degraded, and takes the flag back once it is reaffirmed", () => {
    const { turn, made, ids } = reported();
    const mine = accepted(book(turn, "t-a", exactly(ids.slice(0, 1))));
    report(turn, all.slice(0, 3));
    expect(turn.state.reservation(mine.id)?.degraded).toMatchObject({
      cause: "NEEDS_REVIEW",
      unitIds: ids.slice(0, 1),
    });
    accepted(reaffirmUnitReservation(turn, of(made)));
    expect(turn.state.reservation(mine.id)?.degraded).toBeNull();
  });
});

describe("a node with units set aside", () => {
  const shared = poolConfig({ sharing: "timeslice" });

  it("goes to exclusive pools and to none, and takes them along; it stays out of a shared one", () => {
    const from = fencedTurn(2);
    const made = setAside(from);
    const ask = { nodeId: nodeId(0) } as const;
    const cut = turnOn({ ...gpuPool(0, 0), config: shared });
    expect(refused(moveNode(from, cut, ask))).toMatchObject({ code: "INVALID_STATE" });
    const to = turnOn(gpuPool(0, 0));
    accepted(moveNode(from, to, ask));
    expect(to.state.unitReservation(made.id)).toEqual(made);
    expect(from.state.unitReservation(made.id)).toBeUndefined();
    expect(book(to, "t-b").ok).toBe(false);
  });

  it("is not removed before they are over", () => {
    const turn = fencedTurn(2);
    const made = setAside(turn);
    const ask = { nodeId: nodeId(0) } as const;
    expect(refused(removeNode(turn, ask))).toMatchObject({ code: "INVALID_STATE" });
    accepted(cancelUnitReservation(turn, of(made)));
    expect(removeNode(turn, ask).ok).toBe(true);
  });
});
