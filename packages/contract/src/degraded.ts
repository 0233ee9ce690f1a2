/** What failing hardware does to a booking, as reservations and their events say it. */
import { DEGRADED_CAUSES } from "@berth/domain";
import { z } from "zod";
import { list, time, unitId } from "./common.ts";

export const degraded = z
  .object({
    since: time.describe("Since when."),
    cause: z
      .enum(DEGRADED_CAUSES)
      .meta({
        id: "DegradedCause",
        description:
          "What is wrong with what a booking holds: its node's state, maintenance, a unit's own fault, a device that its " +
          "node no longer reports, or a ring-fence to be reviewed.",
      })
      .describe("What is wrong; of several, the first in the order of the values."),
    unitIds: list(unitId, 4_096).describe("The units concerned."),
  })
  .meta({ id: "Degraded", description: "Some of what a booking holds cannot be used." });
