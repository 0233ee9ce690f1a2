/** Examples of the group unitReservations. */
import type { Output } from "../contract.ts";
import { timeText } from "../time-text.ts";
import {
  type Examples,
  NOW,
  VISION,
  hours,
  nodeId,
  otherNodeId,
  reservationId,
  unitIds,
  unitReservationId,
} from "./story.ts";

type UnitReservation = Output<"unitReservations.get">;

const term = { startsAt: timeText(hours(24)), endsAt: timeText(hours(24 * 91)) };
const told = {
  allowedOrgIds: ["platform", VISION],
  reason: "reserved for the quarter",
  contractRef: "C-2027-014",
};

const set: UnitReservation = {
  id: unitReservationId,
  nodeId,
  status: "pending",
  ...told,
  reservedUnitIds: unitIds,
  ...term,
  topologyGen: 1,
  createdAt: timeText(NOW),
  updatedAt: timeText(NOW),
};
const later = timeText(hours(48));
const active: UnitReservation = { ...set, status: "active", updatedAt: later };
const ref = { nodeId, reservationId: unitReservationId };

export const UNIT_RESERVATIONS: Examples<"unitReservations"> = {
  "unitReservations.create": [
    {
      summary: "Four GPUs of a node for a quarter",
      input: { nodeId, unitIds, ...told, allowedOrgIds: [VISION], ...term },
      output: set,
    },
  ],
  "unitReservations.list": [
    {
      summary: "Those of one node",
      input: { nodeId, status: "active", limit: 50 },
      output: { reservations: [active], nextCursor: null },
    },
  ],
  "unitReservations.get": [{ summary: "Before its term", input: ref, output: set }],
  "unitReservations.cancel": [
    {
      summary: "Its units are everyone's again",
      input: ref,
      output: { ...active, status: "cancelled", endsAt: later },
    },
  ],
  "unitReservations.release": [
    {
      summary: "Two of its units to the spot market",
      input: { ...ref, unitIds: unitIds.slice(0, 2) },
      output: { ...active, releasedUnitIds: unitIds.slice(0, 2) },
    },
  ],
  "unitReservations.reclaim": [
    {
      summary: "What taking them back would end; nothing is done",
      input: { ...ref, dryRun: true },
      output: {
        ...active,
        releasedUnitIds: unitIds.slice(0, 2),
        wouldTerminate: [reservationId],
        wouldSkip: [],
      },
    },
    {
      summary: "Taking them back, and only as it was shown",
      input: { ...ref, expect: [reservationId] },
      output: { ...active, terminated: [reservationId], skipped: [] },
    },
  ],
  "unitReservations.reaffirm": [
    {
      summary: "It holds for the node's GPUs as they are now",
      input: { nodeId: otherNodeId, reservationId: unitReservationId },
      output: { ...active, nodeId: otherNodeId, topologyGen: 2 },
    },
  ],
};
