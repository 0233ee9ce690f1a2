/** Examples of the group pools. */
import type { Output } from "../contract.ts";
import { rows } from "./capacity.ts";
import { type Examples, LAB, MODEL, NOW, VISION, poolId, siteId } from "./story.ts";

type Pool = Output<"pools.get">;

/** As its owner sees it. */
const owned: Pool = {
  id: poolId,
  tenantId: LAB,
  siteId,
  region: "eu-north-1",
  class: "metal-host",
  gpuModel: MODEL,
  sharing: "exclusive",
  agent: "bcd",
  policy: { label: "H100, hall 1", placement: "pack", maxDuration: "14d" },
  label: "H100, hall 1",
  providerAccountId: null,
  version: 1,
  owned: true,
  archived: false,
  quota: [{ resource: "gpu", max: 2_147_483_647, used: 0, remaining: null }],
  offer: null,
  offers: [],
  createdAt: NOW,
  updatedAt: NOW,
};

/** As the tenant sees it that it was offered to. */
const offered: Pool = {
  ...owned,
  owned: false,
  quota: [{ resource: "gpu", max: 16, used: 8, remaining: null }],
  offer: { includeDescendants: false, priority: 0 },
  offers: null,
};

export const POOLS: Examples<"pools"> = {
  "pools.list": [
    { summary: "What was offered", input: { tenantId: VISION }, output: { pools: [offered] } },
  ],
  "pools.get": [
    { summary: "A pool that was offered", input: { tenantId: VISION, poolId }, output: offered },
    {
      summary: "The same for its owner, with every offer",
      input: { tenantId: LAB, poolId },
      output: {
        ...owned,
        offers: [
          {
            tenantId: VISION,
            includeDescendants: false,
            priority: 0,
            quota: [{ resource: "gpu", max: 16, used: 8, remaining: null }],
          },
        ],
      },
    },
  ],
  "pools.create": [
    {
      summary: "Whole GPUs of bare machines",
      input: {
        tenantId: LAB,
        siteId,
        class: "metal-host",
        gpuModel: MODEL,
        policy: { label: "H100, hall 1", placement: "pack", maxDuration: "14d" },
        idempotencyKey: "hall-1/h100",
      },
      output: owned,
    },
  ],
  "pools.capacity": [
    { summary: "A row a resource", input: { tenantId: VISION, poolId }, output: rows },
  ],
  "pools.offer": [
    {
      summary: "Sixteen GPUs at most at any one instant",
      input: { tenantId: LAB, poolId, toTenantId: VISION, quota: { gpu: 16 } },
      output: offered,
    },
  ],
  "pools.unoffer": [
    {
      summary: "No new bookings from now on; live ones stay",
      input: { tenantId: LAB, poolId, toTenantId: VISION },
      output: { removed: true },
    },
  ],
  "pools.update": [
    {
      summary: "A new policy in place of the old one",
      input: { tenantId: LAB, poolId, policy: { label: "H100, hall 2", placement: "spread" } },
      output: {
        ...owned,
        policy: { label: "H100, hall 2", placement: "spread" },
        label: "H100, hall 2",
        version: 2,
      },
    },
  ],
  "pools.archive": [
    {
      summary: "Retired: seen by its owner only",
      input: { tenantId: LAB, poolId },
      output: { ...owned, version: 2, archived: true },
    },
  ],
};
