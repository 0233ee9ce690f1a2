/** Group `reservations`: a tenant's own bookings, from the request to the release. */
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  binding,
  cursor,
  cursorText,
  ifVersion,
  integer,
  limit,
  list,
  name,
  nextCursor,
  nodeId,
  poolId,
  projectId,
  reservationId,
  reservationState,
  resourceKey,
  scalarAmounts,
  tenantId,
  text,
  time,
  topology,
  unitClass,
  unitId,
  version,
} from "./common.ts";
import { preview } from "./capacity.ts";
import { degraded } from "./degraded.ts";
import { event } from "./events.ts";
import { bookingRequest, deviceLine, quoteRequest } from "./request.ts";

const atom = z
  .object({
    unitId,
    class: unitClass.describe("What kind of unit."),
    model: text().nullable().describe("The hardware's model name, or null."),
    profile: text(64).nullable().describe("The MIG profile, or null."),
    gpuUuid: text().nullable().describe("The GPU's UUID as the driver reports it, or null."),
    index: amount().describe("Its number among the node's units of the class."),
    parentUnitId: unitId.nullable().describe("The GPU that it is a part of, or null."),
  })
  .meta({ id: "Atom", description: "One unit that a reservation holds." });

const member = z
  .object({
    index: amount().describe("The member's number, from 0."),
    nodeId,
    nodeName: name().describe("The node's name."),
    address: text().nullable().describe("Where to reach the node, or null when none is known."),
    atoms: list(atom, 4_096).describe(
      "The units held: by class, then by their number on the node.",
    ),
    resources: scalarAmounts.describe("CPU and memory held on the node."),
  })
  .meta({ id: "Member", description: "What a reservation holds on one node." });

export const reservation = z
  .object({
    id: reservationId.describe("The reservation's id."),
    tenantId: anyTenantId.describe("Whose it is."),
    poolId,
    projectId: projectId.nullable().describe("The tag it was booked with, or null."),
    state: reservationState.describe("Its state at the time of the answer."),
    binding: binding.describe("What it holds: units or whole nodes."),
    spot: z.boolean().describe("It may be preempted with notice."),
    start: time.describe("Start of the window, milliseconds since the epoch."),
    end: time.describe("End of the window, exclusive."),
    leaseSeconds: integer(30, 86_400)
      .nullable()
      .describe("It lapses unless renewed at least this often, seconds; null: no lease."),
    leaseExpiresAt: time.nullable().describe("When it lapses unless renewed; null: no lease."),
    topology: topology.describe("NVLink wish of the request."),
    gang: z
      .object({
        size: integer(2, LIMITS.gangSize).describe("Members."),
        topologyKey: text(LIMITS.topologyKeyLength, 0)
          .nullable()
          .describe("The node label whose value all members share, or null."),
      })
      .meta({ id: "Gang", description: "Members booked together." })
      .nullable()
      .describe("The gang, or null."),
    node: z
      .object({
        profileId: text(128).describe("The profile that the nodes are to be set up with."),
        profileVersion: version.nullable().describe("Its version, or null."),
      })
      .meta({ id: "NodeSetup", description: "How leased nodes are set up." })
      .nullable()
      .describe("The set-up that leased nodes were asked for with, or null."),
    devices: list(deviceLine, LIMITS.deviceLines).describe(
      "The lines as they were asked for; what a line did not say is absent.",
    ),
    resources: scalarAmounts.describe(
      "CPU and memory asked for, per member; what each holds is in `members`.",
    ),
    members: list(member, LIMITS.gangSize)
      .nullable()
      .describe(
        "What it holds: an entry a gang member or leased node, all of them; null in a list that did not include members.",
      ),
    preemption: z
      .object({
        noticeAt: time.describe("When the notice was given."),
        endsAt: time.describe("When the booking ends."),
      })
      .meta({ id: "Preemption", description: "A notice that a spot booking is to end." })
      .nullable()
      .describe("The notice that it is or was under, or null."),
    degraded: degraded
      .nullable()
      .describe("What of it cannot be used at some time of its window, or null."),
    endedAt: time.nullable().describe("When it ended; null while it is live."),
    endReason: text(LIMITS.messageLength, 0).nullable().describe("Why it ended, in words."),
    version: version.describe("Goes up by one with every change: the lease's fencing token."),
    createdBy: text(512).describe("Who made it."),
    createdAt: time.describe("Milliseconds since the epoch."),
    updatedAt: time.describe("Milliseconds since the epoch."),
  })
  .meta({
    id: "Reservation",
    description: "A booking of units of one pool for a window `[start, end)`.",
  });

const reservationRef = z
  .strictObject({ tenantId, reservationId })
  .meta({ id: "ReservationRef", description: "One of the tenant's reservations." });

const versionedRef = z.strictObject({ tenantId, reservationId, version: ifVersion }).meta({
  id: "VersionedReservationRef",
  description: "One of the tenant's reservations, as last seen.",
});

const quotaAnswer = z
  .object({
    ok: z.boolean().describe("The quota allows it."),
    rows: list(
      z
        .object({
          resource: resourceKey.describe("What is limited."),
          max: amount().nullable().describe("The row's maximum."),
          peak: amount()
            .nullable()
            .describe("Most in use at once inside the window, without this request."),
          remaining: amount()
            .nullable()
            .describe("What is left in the window; given only where the row is another tenant's."),
          asked: amount().describe("What the request would add."),
        })
        .meta({
          id: "QuotaLine",
          description:
            "One metered resource. `max` and `peak` are null where the row is another tenant's.",
        }),
      16,
    ).describe("The metered resources that the request uses."),
  })
  .meta({ id: "QuotaAnswer", description: "Whether a request stays within the quota." });

const quoted = {
  preview: preview.describe("Whether it fits."),
  quota: quotaAnswer.describe("Whether the quota allows it."),
};

export const reservations = {
  create: { input: bookingRequest, output: reservation },
  quote: {
    input: quoteRequest,
    output: z
      .object({
        ...quoted,
        alternatives: list(
          z.object(quoted).meta({ id: "QuotedShape", description: "The answer for one shape." }),
          LIMITS.alternatives,
        ).describe("The answers for the alternatives, in their order."),
      })
      .meta({ id: "Quote", description: "Fit and quota of a request and of its alternatives." }),
  },
  get: { input: reservationRef, output: reservation },
  list: {
    input: z
      .strictObject({
        tenantId,
        poolId: poolId.optional().describe("Only those in this pool."),
        projectId: projectId.optional().describe("Only those with this tag."),
        state: list(reservationState, 8, 1)
          .optional()
          .describe("Only those in one of these states."),
        from: time
          .optional()
          .describe("Only those that overlap `[from, to)`; absent: no lower bound."),
        to: time
          .optional()
          .describe("Only those that overlap `[from, to)`; absent: no upper bound."),
        include: list(z.enum(["members"]), 1)
          .optional()
          .describe("`members`: answer the units of each, too."),
        limit,
        cursor,
      })
      .meta({
        id: "ListReservationsInput",
        description: "Which of the tenant's reservations to list.",
      }),
    output: z
      .object({
        reservations: list(reservation, LIMITS.page).describe("Newest first."),
        nextCursor,
      })
      .meta({ id: "ReservationPage", description: "A page of reservations." }),
  },
  renew: { input: versionedRef, output: reservation },
  extend: {
    input: z
      .strictObject({
        tenantId,
        reservationId,
        end: time.describe("The new end, exclusive; not before the present one."),
        dryRun: z.boolean().optional().describe("Answer what would come of it, write nothing."),
        version: ifVersion,
      })
      .meta({ id: "ExtendInput", description: "A later end for a reservation." }),
    output: reservation,
  },
  release: { input: versionedRef, output: reservation },
  terminate: {
    input: z
      .strictObject({
        tenantId,
        reservationId: reservationId.describe("The reservation to end, another tenant's."),
        reason: text().describe("Why, in words; its tenant reads it."),
        version: ifVersion,
      })
      .meta({ id: "TerminateInput", description: "A reservation to end, and why." }),
    output: reservation,
  },
  watch: {
    input: z
      .strictObject({
        tenantId,
        poolId: poolId.optional().describe("Only events of this pool."),
        reservationId: reservationId.optional().describe("Only events of this reservation."),
        lastEventId: cursorText
          .optional()
          .describe("The `cursor` of the last event that you have; absent: only what is to come."),
      })
      .meta({ id: "WatchInput", description: "Which of the tenant's events to be told of." }),
    /** One event of the stream. */
    output: event,
  },
};
