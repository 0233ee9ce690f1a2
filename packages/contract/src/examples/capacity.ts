/** Examples of the group capacity. */
import type { Output } from "../contract.ts";
import {
  type Examples,
  LAB,
  MODEL,
  NOW,
  VISION,
  hours,
  nodeId,
  otherNodeId,
  poolId,
  siteId,
  unitIds,
} from "./story.ts";

type Row = Output<"capacity.byPool">["capacity"][number];

function row(resource: Row["resource"], total: number, allocated: number): Row {
  return {
    resource,
    total,
    allocatable: total,
    allocated,
    reserved: 0,
    available: total - allocated,
    provisioning: 0,
    unhealthy: 0,
    maintenance: 0,
    unreachable: 0,
    updatedAt: NOW,
  };
}

export const rows = {
  poolId,
  capacity: [
    row("gpu", 32, 8),
    row("memoryGiB", 8_192, 512),
    row("node", 4, 0),
    row("vcpu", 768, 64),
  ],
};

/** Two whole GPUs of one node for four hours. */
export const ask = {
  tenantId: VISION,
  poolId,
  devices: [{ class: "gpu" as const, count: 2 }],
  start: hours(1),
  duration: "4h",
  idempotencyKey: "train-7f3a",
};

export const fits: Output<"capacity.preview"> = {
  fits: true,
  start: hours(1),
  end: hours(5),
  candidates: [
    { nodeId, nodeName: "h100-01", atoms: unitIds.slice(0, 2), score: 0.94 },
    { nodeId: otherNodeId, nodeName: "h100-02", atoms: unitIds.slice(2, 4), score: 0.71 },
  ],
  reason: null,
  preemptible: null,
  earliestStart: hours(1),
  searchedTo: hours(1),
  asOf: NOW,
};

export const booked: Output<"capacity.preview"> = {
  ...fits,
  fits: false,
  candidates: [],
  reason: {
    code: "BUSY",
    message: "8 gpu: 3 of 4 nodes are booked in this window, 1 is in maintenance",
    blocked: [
      { cause: "BUSY", nodes: 3 },
      { cause: "MAINTENANCE", nodes: 1 },
    ],
  },
  preemptible: { count: 1, startsAt: hours(1), exact: true },
  earliestStart: hours(8),
  searchedTo: hours(8_784),
};

export const CAPACITY: Examples<"capacity"> = {
  "capacity.summary": [
    {
      summary: "One pool of 32 GPUs, 8 of them booked",
      input: { tenantId: VISION },
      output: {
        tenantId: VISION,
        pools: [
          {
            ...rows,
            siteId,
            region: "eu-north-1",
            class: "metal-host",
            gpuModel: MODEL,
            sharing: "exclusive",
            owned: false,
            archived: false,
          },
        ],
        byGpuModel: {
          [MODEL]: { total: 32, allocatable: 32, allocated: 8, reserved: 0, available: 24 },
        },
      },
    },
  ],
  "capacity.byPool": [
    { summary: "A row a resource", input: { tenantId: VISION, poolId }, output: rows },
  ],
  "capacity.preview": [
    { summary: "Two GPUs of one node for four hours: it fits", input: ask, output: fits },
    {
      summary: "Eight GPUs at once: booked, and when they would be free",
      input: {
        ...ask,
        devices: [{ class: "gpu", count: 8 }],
        topology: "nvlink-all",
        idempotencyKey: "train-7f3b",
      },
      output: booked,
    },
  ],
  "capacity.timeline": [
    {
      summary: "Three hours in steps of one",
      input: { tenantId: LAB, poolId, from: hours(0), to: hours(3), stepMinutes: 60 },
      output: {
        poolId,
        from: hours(0),
        to: hours(3),
        stepMinutes: 60,
        allocatable: 32,
        buckets: [
          { start: hours(0), booked: 8, free: 24 },
          { start: hours(1), booked: 10, free: 22 },
          { start: hours(2), booked: 10, free: 22 },
        ],
      },
    },
  ],
};
