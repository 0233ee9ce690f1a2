import { expect, it } from "vitest";
import { betweenEvents, cameInService } from "./between.ts";
import type { UnitRow } from "./rows.ts";
import type { EventRow, Json } from "./types.ts";
import { type View, quotaMax } from "./view.ts";

let idx = -1;
const event = (type: string, data: Json): EventRow =>
  ({ type, data, idx: (idx += 1), tenantId: "owner", reservationId: null }) as unknown as EventRow;

const quotasOf = (max: number): View["quotas"] => [
  { tenant_id: "a", resource: "gpu", max, used: 0, used_at: 0 },
];
const view = (max: number): View =>
  ({ at: 1, offers: [], quotas: quotasOf(max), reservations: [] }) as unknown as View;

it("an offer that another one follows in the same batch was the quota in between", () => {
  const offer = (gpu: number) => event("pool.offered", { toTenantId: "a", quota: { gpu } });
  const events = [offer(2), offer(9)];
  const views = betweenEvents(view(9), view(9), { events, told: events, touched: [] });
  expect(new Set(views.map((each) => quotaMax(each, "a", "gpu")))).toEqual(new Set([9, 2]));
});

it("without an offer there is no other quota in between", () => {
  const views = betweenEvents(view(9), view(4), { events: [], told: [], touched: [] });
  expect(new Set(views.map((each) => quotaMax(each, "a", "gpu")))).toEqual(new Set([9, 4]));
});

const UNIT = { id: "u", node_id: "n", parent_unit_id: "p" } as unknown as UnitRow;

it.each<[string, EventRow, boolean]>([
  ["its node is ready", event("node.stateChanged", { nodeId: "n", state: "ready" }), true],
  ["its node is not", event("node.stateChanged", { nodeId: "n", state: "unhealthy" }), false],
  ["another node is", event("node.stateChanged", { nodeId: "m", state: "ready" }), false],
  [
    "the unit is healthy",
    event("unit.healthChanged", { nodeId: "n", unitId: "u", healthy: true }),
    true,
  ],
  [
    "what it is part of is",
    event("unit.healthChanged", { nodeId: "n", unitId: "p", healthy: true }),
    true,
  ],
  [
    "another unit is",
    event("unit.healthChanged", { nodeId: "n", unitId: "v", healthy: true }),
    false,
  ],
  [
    "it is unhealthy",
    event("unit.healthChanged", { nodeId: "n", unitId: "u", healthy: false }),
    false,
  ],
  ["maintenance is called off", event("maintenance.cancelled", { nodeId: "n" }), true],
  ["maintenance is scheduled", event("maintenance.scheduled", { nodeId: "n" }), false],
])("%s: that puts the unit in service or not", (_words, told, isIn) => {
  expect(cameInService([told], UNIT)).toBe(isIn);
});
