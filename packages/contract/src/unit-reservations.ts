/**
 * Group `unitReservations`: units of one node set aside for some orgs. Its fields, status values and texts of
 * time are those of an API that its callers have already: what is not there is left out, never null.
 */
import { UNIT_RESERVATION_STATUSES } from "@berth/domain";
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  cursor,
  id,
  limit,
  list,
  nextCursor,
  nodeId,
  reservationId,
  text,
  unitId,
} from "./common.ts";
import { givenTime, toldTime } from "./time-text.ts";

const unitReservationId = id("ursv").describe("The unit reservation.");
export const unitReservationStatus = z.enum(UNIT_RESERVATION_STATUSES).meta({
  id: "UnitReservationStatus",
  description:
    "`pending` until its term begins, then `active`; `expired` or `cancelled` for good. `needs-review`: the node's GPUs are " +
    "other ones than it was made for, so it grants nothing and withholds its units from everyone until it is reaffirmed.",
});

const unitReservation = z
  .object({
    id: unitReservationId.describe("Its id."),
    nodeId,
    status: unitReservationStatus.describe("Where it stands."),
    allowedOrgIds: list(anyTenantId, LIMITS.answer).describe(
      "The audience: orgs that may book the units. The platform's own is always one.",
    ),
    managingOrgIds: list(anyTenantId, LIMITS.answer)
      .optional()
      .describe("Orgs that may release and reclaim the units on the owner's behalf."),
    reservedUnitIds: list(unitId, LIMITS.answer).describe("The units that it sets aside."),
    releasedUnitIds: list(unitId, LIMITS.answer)
      .optional()
      .describe("Those of them that are on the spot market: anybody's, as spot only."),
    startsAt: toldTime.describe("When its term begins."),
    endsAt: toldTime.optional().describe("When its term ends; absent: when it is cancelled."),
    topologyGen: amount()
      .optional()
      .describe("The node's topology generation that it was made for, or last reaffirmed at."),
    reason: text().optional().describe("Why it was made."),
    contractRef: text().optional().describe("The contract that it was made for."),
    createdAt: toldTime.optional().describe("When it was made."),
    updatedAt: toldTime.optional().describe("When it last changed."),
    terminated: list(reservationId, LIMITS.answer)
      .optional()
      .describe("From reclaim: spot reservations that it ended."),
    skipped: list(reservationId, LIMITS.answer)
      .optional()
      .describe("From reclaim: reservations that run on, as they are not spot."),
    wouldTerminate: list(reservationId, LIMITS.answer)
      .optional()
      .describe("From reclaim's dry run: spot reservations that the call would end."),
    wouldSkip: list(reservationId, LIMITS.answer)
      .optional()
      .describe("From reclaim's dry run: reservations that would run on."),
  })
  .meta({
    id: "UnitReservation",
    description:
      "Units of a node set aside for some orgs. Its times are RFC 3339 texts in UTC; a field that has nothing to say is left out.",
  });

const ref = {
  nodeId,
  reservationId: unitReservationId,
};
const refInput = z
  .strictObject(ref)
  .meta({ id: "UnitReservationRef", description: "Which unit reservation." });
// Which one is named twice is said by the rule itself.
const units = list(unitId, LIMITS.gpusPerNode, 1).meta({ uniqueItems: true });
const namedUnits = units.optional().describe("Units of the reservation; absent: all.");
const orgs = (min: number) => list(anyTenantId, LIMITS.orgs, min);

export const unitReservations = {
  create: {
    input: z
      .strictObject({
        nodeId,
        unitIds: units.describe("Whole GPUs of the node, each with a VFIO group and named once."),
        allowedOrgIds: orgs(1).describe("The audience. The platform's own org is added."),
        managingOrgIds: orgs(0)
          .optional()
          .describe("Orgs that may release and reclaim the units on the owner's behalf."),
        startsAt: givenTime.optional().describe("When the term begins; absent: now."),
        endsAt: givenTime.optional().describe("When the term ends; absent: when it is cancelled."),
        reason: text().optional().describe("Why, for people."),
        contractRef: text().optional().describe("A contract, for people."),
      })
      .meta({ id: "CreateUnitReservationInput", description: "Units to set aside." }),
    output: unitReservation,
  },
  list: {
    input: z
      .strictObject({
        nodeId: nodeId.optional().describe("Only those of this node."),
        status: unitReservationStatus.optional().describe("Only those that stand so."),
        limit,
        cursor,
      })
      .meta({ id: "ListUnitReservationsInput", description: "Which unit reservations to list." }),
    output: z
      .object({
        reservations: list(unitReservation, LIMITS.page).describe("Newest first."),
        nextCursor,
      })
      .meta({ id: "UnitReservationPage", description: "A page of unit reservations." }),
  },
  get: { input: refInput, output: unitReservation },
  cancel: { input: refInput, output: unitReservation },
  release: {
    input: z
      .strictObject({ ...ref, unitIds: namedUnits })
      .meta({ id: "ReleaseUnitsInput", description: "Units to put on the spot market." }),
    output: unitReservation,
  },
  reclaim: {
    input: z
      .strictObject({
        ...ref,
        unitIds: namedUnits,
        dryRun: z.boolean().optional().describe("Only say what the call would do."),
        expect: list(reservationId, LIMITS.expected)
          .optional()
          .describe(
            "The `wouldTerminate` that was shown: when other reservations would end it is CONFLICT with the new plan, and " +
              "nothing is done.",
          ),
      })
      .meta({ id: "ReclaimUnitsInput", description: "Units to take back from the spot market." }),
    output: unitReservation,
  },
  reaffirm: { input: refInput, output: unitReservation },
};
