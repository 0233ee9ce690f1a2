/**
 * What an event's `data` says, by type: what today's writers write. Stored events are older than the newest
 * release, so a field that is added later is optional here, and answers are not held against these schemas.
 */
import type { EventType } from "@berth/domain";
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  id,
  list,
  map,
  name,
  nodeId,
  nodeState,
  poolClass,
  poolId,
  projectId,
  quotaMap,
  reservationId,
  reservationState,
  sharingMode,
  siteId,
  text,
  time,
  unitId,
  version,
} from "./common.ts";
import { ROLES } from "./access.ts";
import { unitReservationStatus } from "./unit-reservations.ts";
import { degraded } from "./degraded.ts";

const reservation = {
  reservationId,
  poolId,
  projectId: projectId.nullable().describe("The tag it was booked with, or null."),
  state: reservationState.describe("Its state from then on."),
  start: time.describe("Start of the window, milliseconds since the epoch."),
  end: time.describe("End of the window, exclusive."),
  leaseExpiresAt: time.nullable().describe("When it lapses unless renewed; null: no lease."),
  endedAt: time.nullable().describe("When it ended; null while it is live."),
  endReason: text(LIMITS.messageLength, 0).nullable().describe("Why it ended, in words."),
  version: version.describe("Its version from then on."),
};
const reservationData = z
  .object(reservation)
  .meta({ id: "ReservationEventData", description: "A reservation as it is from then on." });

const memberPlaces = list(
  z
    .object({
      index: amount().describe("Which member."),
      nodeId,
      unitIds: list(unitId, LIMITS.answer).describe("Its units there."),
    })
    .meta({ id: "MemberPlace", description: "Where a member is." }),
  LIMITS.answer,
);
const healedData = z
  .object({
    ...reservation,
    from: memberPlaces.describe(
      "Where the members were that moved; none: its own units are sound again.",
    ),
    to: memberPlaces.describe("Where they are now."),
  })
  .meta({
    id: "HealedEventData",
    description: "A reservation whose units are all sound from then on.",
  });
const degradedData = z.object({ ...reservation, degraded }).meta({
  id: "DegradedEventData",
  description: "A reservation that has units which cannot be used.",
});

const node = {
  nodeId,
  siteId,
  name: name().describe("The node's name."),
  state: nodeState.describe("Its state from then on."),
  topologyGen: amount().describe("Goes up when the node's GPUs are other ones."),
  version: version.describe("Its version from then on."),
};
const nodeData = z
  .object(node)
  .meta({ id: "NodeEventData", description: "A node as it is from then on." });
const movedNodeData = z
  .object({
    ...node,
    moved: z.boolean().optional().describe("It went from one pool to another."),
  })
  .meta({ id: "MovedNodeEventData", description: "A node that came or went." });
const unitData = z
  .object({ ...node, unitId, healthy: z.boolean().describe("Its health from then on.") })
  .meta({ id: "UnitEventData", description: "A unit's health, and its node." });
const maintenanceData = z
  .object({
    ...node,
    maintenanceId: id("mnt").describe("The window."),
    start: time.describe("Start of the window."),
    end: time.describe("End of the window, exclusive."),
  })
  .meta({ id: "MaintenanceEventData", description: "A maintenance window, and its node." });

const tenantData = z
  .object({
    tenantId: anyTenantId.describe("The tenant."),
    parentId: anyTenantId.nullable().describe("The tenant above it, or null."),
    name: name().nullable().describe("Its name, or null."),
  })
  .meta({ id: "TenantEventData", description: "A tenant as it is from then on." });
const siteData = z
  .object({
    siteId,
    name: name().describe("The site's name."),
    kind: text(64).describe("Who runs it."),
    region: text().describe("Where it is."),
  })
  .meta({ id: "SiteEventData", description: "A site as it is from then on." });
const keyData = z
  .object({
    keyId: id("key").describe("The key."),
    name: name().describe("Its name."),
    role: z.enum(ROLES).describe("Its role."),
    expiresAt: time.nullable().optional().describe("When it ends; null: never."),
  })
  .meta({ id: "KeyEventData", description: "A key that was made or revoked." });

const createdPoolData = z
  .object({
    poolId,
    siteId,
    class: poolClass.describe("What kind of machines it has."),
    gpuModel: text().nullable().describe("Its GPU model, or null."),
    sharing: sharingMode.describe("How its GPUs are cut."),
    version: version.describe("Its version."),
  })
  .meta({ id: "CreatedPoolEventData", description: "A new pool." });
const updatedPoolData = z
  .object({
    poolId,
    version: version.describe("The pool's version from then on."),
    gpuModel: text().nullable().describe("Its GPU model, or null."),
    policy: map(text(), z.unknown(), 64).optional().describe("The policy; the owner's alone."),
    changed: list(text(64), 64).optional().describe("What differs; the owner's alone."),
  })
  .meta({ id: "UpdatedPoolEventData", description: "A pool as it is from then on." });
const offeredPoolData = z
  .object({
    poolId,
    toTenantId: anyTenantId.optional().describe("To whom; the owner's alone."),
    includeDescendants: z.boolean().optional().describe("With the tenants below it."),
    priority: amount().optional().describe("Its place in the line of who waits."),
    quota: quotaMap.optional().describe("The quota that it has from then on."),
  })
  .meta({ id: "OfferedPoolEventData", description: "A pool that is offered, or no longer." });
const archivedPoolData = z
  .object({
    poolId,
    version: version.describe("The pool's version from then on."),
    tenantIds: list(anyTenantId, LIMITS.answer).describe("Whose offers were removed."),
  })
  .meta({ id: "ArchivedPoolEventData", description: "A pool that is retired." });

const unitReservationData = z
  .object({
    unitReservationId: id("ursv").describe("The unit reservation."),
    nodeId,
    status: unitReservationStatus.describe("Where it stands from then on."),
    unitIds: list(unitId, LIMITS.gpusPerNode).describe("The units that the event is about."),
    startsAt: time.describe("Start of the term, milliseconds since the epoch."),
    endsAt: time.nullable().describe("End of the term; null: when it is cancelled."),
    topologyGen: amount().describe("The node's topology generation that it holds for."),
  })
  .meta({ id: "UnitReservationEventData", description: "Units set aside on a node." });
const correctionData = z
  .object({ rows: list(text(), LIMITS.answer).describe("What was counted anew, in words.") })
  .meta({ id: "CorrectionEventData", description: "Stored counts that a recount corrected." });

/** The data of each type; a type without a schema does not type-check. */
export const eventData = {
  "reservation.created": reservationData,
  "reservation.activated": reservationData,
  "reservation.renewed": reservationData,
  "reservation.extended": reservationData,
  "reservation.preempting": reservationData,
  "reservation.preempted": reservationData,
  "reservation.reprieved": reservationData,
  "reservation.healed": healedData,
  "reservation.degraded": degradedData,
  "reservation.endingSoon": reservationData,
  "reservation.completed": reservationData,
  "reservation.released": reservationData,
  "reservation.expired": reservationData,
  "reservation.terminated": reservationData,
  "unit.healthChanged": unitData,
  "maintenance.scheduled": maintenanceData,
  "maintenance.started": maintenanceData,
  "maintenance.ended": maintenanceData,
  "maintenance.cancelled": maintenanceData,
  "tenant.put": tenantData,
  "tenant.moved": tenantData,
  "site.put": siteData,
  "key.created": keyData,
  "key.revoked": keyData,
  "pool.created": createdPoolData,
  "pool.updated": updatedPoolData,
  "pool.offered": offeredPoolData,
  "pool.unoffered": offeredPoolData,
  "pool.archived": archivedPoolData,
  "unitReservation.created": unitReservationData,
  "unitReservation.activated": unitReservationData,
  "unitReservation.released": unitReservationData,
  "unitReservation.reclaimed": unitReservationData,
  "unitReservation.needsReview": unitReservationData,
  "unitReservation.reaffirmed": unitReservationData,
  "unitReservation.expired": unitReservationData,
  "unitReservation.cancelled": unitReservationData,
  "node.registered": movedNodeData,
  "node.stateChanged": nodeData,
  "node.topologyChanged": nodeData,
  "node.removed": movedNodeData,
  "rollup.corrected": correctionData,
} as const satisfies Record<EventType, z.ZodObject>;
