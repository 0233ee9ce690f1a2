/** Sets units of a node aside for some orgs. */
import { type Input, parseTimeText } from "@berth/contract";
import { type TenantId, createUnitReservation, invariant } from "@berth/domain";
import { makerOf } from "../../access/principal.ts";
import type { Call, Handler } from "../../call.ts";
import { fromIssues } from "../../errors.ts";
import { changeAtNode, namedNode } from "./at-node.ts";
import { unknownTenants } from "./store.ts";
import { unitReservationView } from "./view.ts";

type CreateInput = Input<"unitReservations.create">;

export const create: Handler<"unitReservations.create"> = {
  async run(call, input, scope) {
    const { platformOrg } = call.deps.options;
    invariant(platformOrg, "without a platform org no call comes as far as this");

    // 1. The orgs exist; orgs are never removed.
    await checkOrgs(call, input);

    // 2. Everything else is decided at the node's gate.
    const {
      unitIds,
      allowedOrgIds,
      managingOrgIds = [],
      reason = null,
      contractRef = null,
    } = input;
    const ask = {
      nodeId: namedNode(scope).id,
      unitIds,
      allowedOrgIds: [platformOrg, ...allowedOrgIds],
      managingOrgIds,
      startsAt: timeOf(input.startsAt),
      endsAt: timeOf(input.endsAt),
      reason,
      contractRef,
      createdBy: makerOf(call.principal),
    };
    const made = await changeAtNode(call, scope, (turn) => createUnitReservation(turn, ask));
    return unitReservationView(made);
  },
};

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : parseTimeText(text);
}

async function checkOrgs(call: Call, input: CreateInput): Promise<void> {
  const { allowedOrgIds, managingOrgIds = [] } = input;
  const unknown = new Set(
    await unknownTenants(call.deps.db, [...allowedOrgIds, ...managingOrgIds]),
  );
  const issues = (field: string, orgs: readonly TenantId[]) =>
    orgs.flatMap((org, at) =>
      unknown.has(org) ? [{ path: [field, at], message: `there is no org ${org}` }] : [],
    );
  const all = [
    ...issues("allowedOrgIds", allowedOrgIds),
    ...issues("managingOrgIds", managingOrgIds),
  ];
  if (all.length > 0) throw fromIssues(all);
}
