/** Examples of the group fleet. */
import type { Output } from "../contract.ts";
import {
  type Examples,
  LAB,
  MODEL,
  VISION,
  accountId,
  gangId,
  gpuUuid,
  hours,
  maintenanceId,
  nodeId,
  poolId,
  reservationId,
  siteId,
  unitId,
  unitIds,
} from "./story.ts";

type Node = Output<"fleet.getNode">;
type Unit = Node["units"][number];

const unit = (index: number): Unit => ({
  id: unitIds[index] ?? "",
  class: "gpu",
  index,
  model: MODEL,
  profile: null,
  placement: null,
  gpuUuid: gpuUuid(index),
  memoryGiB: 79,
  nvlinkDomain: "h100-01-nvl0",
  vfioGroup: String(41 + index),
  parentUnitId: null,
  healthy: true,
});

const node: Node = {
  id: nodeId,
  siteId,
  poolId,
  name: "h100-01",
  address: "10.20.1.10",
  state: "ready",
  labels: { rack: "r01", zone: "hall-1" },
  topologyGen: 1,
  version: 3,
  tenantOwned: false,
  maintenance: [],
  units: [unit(0), unit(1)],
};

export const FLEET: Examples<"fleet"> = {
  "fleet.putTenant": [
    {
      summary: "A tenant below the lab",
      input: { tenantId: VISION, parentId: LAB, name: "Computer vision" },
      output: { tenantId: VISION, parentId: LAB, name: "Computer vision" },
    },
  ],
  "fleet.putProviderAccount": [
    {
      summary: "An account at a provider",
      input: { tenantId: LAB, name: "burst", kind: "example-cloud" },
      output: { id: accountId, tenantId: LAB, name: "burst", kind: "example-cloud" },
    },
  ],
  "fleet.putSite": [
    {
      summary: "A hall of the lab's own",
      input: { tenantId: LAB, name: "hall-1", region: "eu-north-1" },
      output: {
        id: siteId,
        tenantId: LAB,
        name: "hall-1",
        kind: "custom",
        region: "eu-north-1",
        desiredGen: 0,
      },
    },
  ],
  "fleet.listTenants": [
    {
      summary: "Those that you have a role on",
      input: {},
      output: { tenants: [{ tenantId: VISION, parentId: LAB, name: "Computer vision" }] },
    },
  ],
  "fleet.listSites": [
    {
      summary: "The lab's",
      input: { tenantId: LAB },
      output: {
        sites: [
          {
            id: siteId,
            tenantId: LAB,
            name: "hall-1",
            kind: "custom",
            region: "eu-north-1",
            desiredGen: 0,
          },
        ],
      },
    },
  ],
  "fleet.putNodes": [
    {
      summary: "A machine with two GPUs, into a pool",
      input: {
        siteId,
        poolId,
        nodes: [
          {
            name: "h100-01",
            address: "10.20.1.10",
            labels: { rack: "r01", zone: "hall-1" },
            vcpu: 192,
            memoryGiB: 2_048,
            gpus: [0, 1].map((index) => ({
              uuid: gpuUuid(index),
              index,
              model: MODEL,
              memoryMiB: 81_559,
              nvlinkDomain: "h100-01-nvl0",
              vfioGroup: String(41 + index),
            })),
          },
        ],
      },
      output: { nodes: [{ id: nodeId, name: "h100-01", outcome: "created", topologyGen: 1 }] },
    },
  ],
  "fleet.listNodes": [
    {
      summary: "A pool's nodes, and when their units are taken",
      input: { tenantId: VISION, poolId, from: hours(0), to: hours(24) },
      output: {
        nodes: [
          {
            ...node,
            address: null,
            units: [
              {
                ...unit(0),
                spans: [{ start: hours(1), end: hours(5), kind: "mine", reservationId }],
              },
              {
                ...unit(1),
                spans: [{ start: hours(0), end: hours(3), kind: "busy", reservationId: null }],
              },
            ],
          },
        ],
        nextCursor: null,
      },
    },
  ],
  "fleet.getNode": [
    { summary: "One machine and its units", input: { tenantId: LAB, nodeId }, output: node },
  ],
  "fleet.setNodeState": [
    {
      summary: "Out of reach",
      input: { nodeId, state: "unreachable", version: 3 },
      output: { ...node, state: "unreachable", version: 4 },
    },
  ],
  "fleet.setUnitHealth": [
    {
      summary: "A GPU that is faulty",
      input: { unitId, healthy: false },
      output: { ...node, version: 4, units: [{ ...unit(0), healthy: false }, unit(1)] },
    },
  ],
  "fleet.assignNode": [
    {
      summary: "Into no pool",
      input: { nodeId, poolId: null },
      output: { ...node, poolId: null, version: 4 },
    },
  ],
  "fleet.removeNode": [
    {
      summary: "Taken out of the fleet",
      input: { nodeId, version: 3 },
      output: { ...node, poolId: null, version: 4 },
    },
  ],
  "fleet.scheduleMaintenance": [
    {
      summary: "What the window would do; nothing is written",
      input: { nodeId, from: hours(2), to: hours(6), dryRun: true },
      output: { id: null, healed: [gangId], staying: [reservationId] },
    },
    {
      summary: "The same in earnest, and only as it was shown",
      input: {
        nodeId,
        from: hours(2),
        to: hours(6),
        expect: { healed: [gangId], staying: [reservationId] },
      },
      output: { id: maintenanceId, healed: [gangId], staying: [reservationId] },
    },
  ],
  "fleet.cancelMaintenance": [
    {
      summary: "The window is called off",
      input: { maintenanceId },
      output: { id: maintenanceId, healed: [], staying: [] },
    },
  ],
};
