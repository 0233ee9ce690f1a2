/** Group `capacity`: what the pools that a tenant sees hold, book and have free. Nothing is written. */
import { NODE_CAUSES, POOL_CAUSES } from "@berth/domain";
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  integer,
  list,
  map,
  name,
  nodeId,
  poolClass,
  poolId,
  resource,
  sharingMode,
  siteId,
  tenantId,
  text,
  time,
  unitId,
} from "./common.ts";
import { bookingRequest } from "./request.ts";

export const capacityRow = z
  .object({
    resource: resource.describe("What is counted: units of a class, nodes, or a scalar's amount."),
    total: amount().describe(
      "All there is: `allocatable` + `provisioning` + `unhealthy` + `maintenance` + `unreachable`.",
    ),
    allocatable: amount().describe("On ready nodes and healthy."),
    allocated: amount().describe("Booked now."),
    reserved: amount().describe(
      "Booked for later; what is also booked now is counted here as well.",
    ),
    available: amount().describe(
      "`allocatable` less what of it is allocated or reserved; never below 0.",
    ),
    provisioning: amount().describe("On nodes that are being set up."),
    unhealthy: amount().describe("Faulty themselves, or on unhealthy nodes."),
    maintenance: amount().describe("On nodes in maintenance."),
    unreachable: amount().describe("On nodes that do not answer."),
    updatedAt: time.describe(
      "When the pool was last written and its rows counted, milliseconds since the epoch.",
    ),
  })
  .meta({ id: "CapacityRow", description: "One resource of one pool, counted." });

const capacityRows = list(capacityRow, 16).describe("A row a resource, by resource name.");

const modelTotals = z
  .object({
    total: amount().describe("Whole GPUs there are."),
    allocatable: amount().describe("On ready nodes and healthy."),
    allocated: amount().describe("Booked now."),
    reserved: amount().describe("Booked for later."),
    available: amount().describe("Neither booked now nor later."),
  })
  .meta({ id: "ModelTotals", description: "Whole GPUs of one model over all pools that you see." });

const poolCapacity = z
  .object({
    poolId: poolId.describe("The pool."),
    siteId: siteId.describe("Where its nodes are."),
    region: name().describe("The site's region."),
    class: poolClass.describe("What kind of machines it has."),
    gpuModel: text(32).nullable().describe("The pool's GPU model, or null."),
    sharing: sharingMode.describe("How its GPUs are cut."),
    owned: z.boolean().describe("The tenant owns it."),
    archived: z.boolean().describe("Retired; only its owner sees it."),
    capacity: capacityRows,
  })
  .meta({ id: "PoolCapacity", description: "One pool with its capacity rows." });

export const byPoolInput = z
  .strictObject({ tenantId, poolId })
  .meta({ id: "PoolRef", description: "A pool, as a tenant sees it." });

export const byPoolOutput = z
  .object({ poolId, capacity: capacityRows })
  .meta({ id: "PoolRows", description: "A pool's capacity rows." });

const cause = z
  .enum([...NODE_CAUSES, ...POOL_CAUSES])
  .meta({ id: "Cause", description: "Why a node or a pool cannot take a request." });

export const reason = z
  .object({
    code: cause.describe("The cause with the most nodes."),
    message: text(LIMITS.messageLength).describe("One sentence to act on."),
    blocked: list(
      z
        .object({
          cause: cause.describe("The cause."),
          nodes: amount().describe("Nodes it rules out."),
        })
        .meta({ id: "Blocked", description: "How many nodes one cause rules out." }),
      16,
    ).describe(
      "Nodes by cause. They add up to the pool's node count; from extend, to how many of the booking's own nodes are in the way.",
    ),
  })
  .meta({ id: "Reason", description: "Why a request does not fit." });

export const preview = z
  .object({
    fits: z.boolean().describe("Whether it could be booked now as asked. Quota is not checked."),
    start: time.describe("Start of the window asked for."),
    end: time.describe("End of the window asked for."),
    candidates: list(
      z
        .object({
          nodeId,
          nodeName: name().describe("The node's name."),
          atoms: list(unitId, 4_096).describe("The units it would take; never one that is taken."),
          score: z.number().min(0).max(1).describe("How well it suits, 0 to 1; higher is better."),
        })
        .meta({
          id: "Candidate",
          description: "A node that could take the request, and with which units.",
        }),
      LIMITS.gangSize,
    ).describe(
      "Best first, at most 10 over different nodes where possible. With a gang the best gang, an entry a member; with " +
        "`binding: node` the nodes that would be leased.",
    ),
    reason: reason.nullable().describe("Why it does not fit; null when it does."),
    preemptible: z
      .object({
        count: amount().describe("Spot bookings that would get a notice; a gang is one."),
        startsAt: time.describe("When the request would start."),
        exact: z
          .boolean()
          .describe("They are surely the fewest; else merely none of them could stay."),
      })
      .meta({ id: "Preemptible", description: "What ending spot bookings would make possible." })
      .nullable()
      .describe(
        "Room that spot bookings would make way for; null when none is needed or none helps.",
      ),
    earliestStart: time
      .nullable()
      .describe(
        "First instant at which the request fits without preemption; null: none up to `searchedTo`.",
      ),
    searchedTo: time.describe("How far ahead was looked."),
    asOf: time.describe("The pool's clock at this answer."),
  })
  .meta({ id: "Preview", description: "Whether a request fits, where, and if not why and when." });

export const capacity = {
  summary: {
    input: z
      .strictObject({ tenantId })
      .meta({ id: "TenantRef", description: "A tenant you have a role on." }),
    output: z
      .object({
        tenantId: anyTenantId.describe("The tenant asked about."),
        pools: list(poolCapacity, LIMITS.answer).describe("Every pool it owns or is offered."),
        byGpuModel: map(text(32), modelTotals, LIMITS.answer).describe(
          "The pools' `gpu` rows summed by model; pools without one under `other`.",
        ),
      })
      .meta({ id: "CapacitySummary", description: "All that a tenant sees, counted." }),
  },
  byPool: { input: byPoolInput, output: byPoolOutput },
  preview: { input: bookingRequest, output: preview },
  timeline: {
    input: z
      .strictObject({
        tenantId,
        poolId,
        from: time
          .optional()
          .describe(
            "First instant, milliseconds since the epoch; absent: the start of this hour (UTC).",
          ),
        to: time
          .optional()
          .describe(
            "End, exclusive; after `from`, at most 7 days later. Absent: 24 h after `from`.",
          ),
        stepMinutes: integer(5, 1_440)
          .optional()
          .describe("Width of a bucket, minutes; at most 336 buckets. Absent: 60."),
      })
      .meta({
        id: "TimelineInput",
        description: "Which stretch of a pool's time, in which steps.",
      }),
    output: z
      .object({
        poolId,
        from: time.describe("First instant."),
        to: time.describe("End, exclusive."),
        stepMinutes: integer(5, 1_440).describe(
          "Width of a bucket, minutes; the last may be cut at `to`.",
        ),
        allocatable: amount().describe("Whole GPUs that are allocatable at present."),
        buckets: list(
          z
            .object({
              start: time.describe("Start of the bucket."),
              booked: amount().describe("Distinct whole GPUs booked at any time in it."),
              free: amount().describe("`allocatable` less `booked`, never below 0."),
            })
            .meta({ id: "Bucket", description: "One step of a timeline." }),
          LIMITS.buckets,
        ).describe("In order of time."),
      })
      .meta({ id: "Timeline", description: "Whole GPUs booked over time." }),
  },
};
