/** Nodes and units for tests: what a test is not about is as plain as it can be. */
import type { NodeSchedule, UnitSchedule } from "@berth/client";

export function someUnit(given: Partial<UnitSchedule> = {}): UnitSchedule {
  return {
    id: "unit_a",
    class: "gpu",
    index: 0,
    model: null,
    profile: null,
    placement: null,
    gpuUuid: null,
    memoryGiB: null,
    nvlinkDomain: null,
    vfioGroup: null,
    parentUnitId: null,
    healthy: true,
    spans: [],
    ...given,
  };
}

export function someNode(given: Partial<NodeSchedule> = {}): NodeSchedule {
  return {
    id: "node_a",
    siteId: "site_a",
    poolId: "pool_a",
    name: "node-1",
    address: null,
    state: "ready",
    labels: {},
    topologyGen: 1,
    version: 1,
    tenantOwned: false,
    maintenance: [],
    units: [],
    ...given,
  };
}
