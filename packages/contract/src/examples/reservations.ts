/** Examples of the group reservations. */
import type { Output } from "../contract.ts";
import { ask, booked, fits } from "./capacity.ts";
import {
  CURSOR,
  type Examples,
  MODEL,
  NOW,
  VISION,
  eventId,
  gangId,
  gpuUuid,
  hours,
  nodeId,
  otherNodeId,
  poolId,
  reservationId,
  unitIds,
} from "./story.ts";

type Reservation = Output<"reservations.get">;
type Member = NonNullable<Reservation["members"]>[number];

const atom = (index: number): Member["atoms"][number] => ({
  unitId: unitIds[index] ?? "",
  class: "gpu",
  model: MODEL,
  profile: null,
  gpuUuid: gpuUuid(index),
  index,
  parentUnitId: null,
});

const member = (index: number, where: Pick<Member, "nodeId" | "nodeName" | "address">): Member => ({
  index,
  ...where,
  atoms: [atom(2 * index), atom(2 * index + 1)],
  resources: { vcpu: 32, memoryGiB: 256, hugepages1Gi: 0 },
});

const first = { nodeId, nodeName: "h100-01", address: "10.20.1.10" };
const second = { nodeId: otherNodeId, nodeName: "h100-02", address: "10.20.1.11" };

export const held: Reservation = {
  id: reservationId,
  tenantId: VISION,
  poolId,
  projectId: null,
  state: "scheduled",
  binding: "hold",
  spot: false,
  start: hours(1),
  end: hours(5),
  leaseSeconds: null,
  leaseExpiresAt: null,
  topology: "any",
  gang: null,
  node: null,
  devices: [{ class: "gpu", count: 2 }],
  resources: { vcpu: 32, memoryGiB: 256, hugepages1Gi: 0 },
  members: [member(0, first)],
  preemption: null,
  degraded: null,
  endedAt: null,
  endReason: null,
  version: 1,
  createdBy: "key:vision/train",
  createdAt: NOW,
  updatedAt: NOW,
};

const leased: Reservation = {
  ...held,
  state: "active",
  start: NOW,
  leaseSeconds: 60,
  leaseExpiresAt: NOW + 90_000,
  version: 2,
  updatedAt: NOW + 30_000,
};

const gang: Reservation = {
  ...held,
  id: gangId,
  gang: { size: 2, topologyKey: "rack" },
  topology: "nvlink-all",
  members: [member(0, first), member(1, second)],
};

const gangAsk = {
  ...ask,
  resources: { vcpu: 32, memoryGiB: 256 },
  topology: "nvlink-all" as const,
  gang: { size: 2, topologyKey: "rack" },
  idempotencyKey: "train-gang-11",
};

const ref = { tenantId: VISION, reservationId };
const quota = {
  ok: true,
  rows: [{ resource: "gpu", max: 16, peak: 8, remaining: null, asked: 2 }],
};

export const RESERVATIONS: Examples<"reservations"> = {
  "reservations.create": [
    {
      summary: "Two GPUs of one node for four hours",
      input: { ...ask, resources: { vcpu: 32, memoryGiB: 256 } },
      output: held,
    },
    {
      summary: "Four GPUs: two members of two on one rack, all or nothing",
      input: gangAsk,
      output: gang,
    },
    {
      summary: "A lease: it lapses unless it is renewed every minute",
      input: {
        tenantId: VISION,
        poolId,
        devices: [{ class: "gpu", count: 2 }],
        duration: "PT5H",
        leaseSeconds: 60,
        wait: { timeoutMs: 10_000 },
        idempotencyKey: "notebook-3",
      },
      output: { ...leased, leaseExpiresAt: NOW + 60_000, version: 1, updatedAt: NOW },
    },
  ],
  "reservations.quote": [
    {
      summary: "Eight GPUs do not fit; two do",
      input: {
        ...ask,
        devices: [{ class: "gpu", count: 8 }],
        alternatives: [{ devices: [{ class: "gpu", count: 2 }] }],
        idempotencyKey: "train-7f3b",
      },
      output: {
        preview: booked,
        quota: {
          ok: true,
          rows: [{ resource: "gpu", max: 16, peak: 8, remaining: null, asked: 8 }],
        },
        alternatives: [{ preview: fits, quota }],
      },
    },
  ],
  "reservations.get": [{ summary: "One that is to begin", input: ref, output: held }],
  "reservations.list": [
    {
      summary: "The newest that are live, without their units",
      input: { tenantId: VISION, poolId, state: ["scheduled", "active"], limit: 2 },
      output: {
        reservations: [
          { ...gang, members: null },
          { ...held, members: null },
        ],
        nextCursor: CURSOR,
      },
    },
  ],
  "reservations.renew": [
    {
      summary: "Another minute",
      input: { ...ref, version: 1 },
      output: leased,
    },
  ],
  "reservations.extend": [
    {
      summary: "Two hours more on the same units",
      input: { ...ref, end: hours(7), version: 1 },
      output: { ...held, end: hours(7), version: 2, updatedAt: NOW + 60_000 },
    },
  ],
  "reservations.release": [
    {
      summary: "Ended now, by its tenant",
      input: ref,
      output: {
        ...held,
        state: "released",
        endedAt: NOW + 60_000,
        endReason: "released by its tenant",
        version: 2,
        updatedAt: NOW + 60_000,
      },
    },
  ],
  "reservations.terminate": [
    {
      summary: "Ended by the pool's owner, with the reason that its tenant reads",
      input: { tenantId: VISION, reservationId, reason: "hall 1 loses its cooling at noon" },
      output: {
        ...held,
        state: "terminated",
        endedAt: NOW + 60_000,
        endReason: "hall 1 loses its cooling at noon",
        version: 2,
        updatedAt: NOW + 60_000,
      },
    },
  ],
  "reservations.watch": [
    {
      summary: "Everything that happens in one pool",
      input: { tenantId: VISION, poolId, lastEventId: CURSOR },
      output: {
        id: eventId,
        cursor: CURSOR,
        type: "reservation.activated",
        at: hours(1),
        tenantId: VISION,
        poolId,
        seq: 42,
        data: {
          reservationId,
          poolId,
          projectId: null,
          state: "active",
          start: hours(1),
          end: hours(5),
          leaseExpiresAt: null,
          endedAt: null,
          endReason: null,
          version: 2,
        },
      },
    },
  ],
};
