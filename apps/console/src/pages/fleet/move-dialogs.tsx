/** A node's pool, and its leaving the fleet. Both wait until nothing live holds its units, and say so before. */
import type { NodeSchedule, Pool } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { machineText } from "../../format/units.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { PlanDialog, knownPlan } from "../../plan/plan-dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { poolName } from "../pool-names.ts";
import { bookedRefusal, heldOf, heldText, removalRefusal } from "./held.ts";
import type { Held } from "./held.ts";

export interface MoveDialogProps {
  readonly node: NodeSchedule;
  /** The tenant that owns the node. */
  readonly ownerId: string;
  /** The pool to begin with; null: none. Absent: where it is. */
  readonly to?: string | null | undefined;
  readonly onClose: () => void;
}

export function MoveDialog({ node, ownerId, to: begin, onClose }: MoveDialogProps): ReactNode {
  const { berth } = useSession();
  const pools = useSitePools(node, ownerId);
  const [to, setTo] = useState(begin === undefined ? node.poolId : begin);
  const held = heldOf(node);
  const nameOf = (id: string | null): string => nameIn(pools.data ?? [], id);
  return (
    <PlanDialog
      title={`The pool of ${node.name}`}
      onClose={onClose}
      // The node is what the list has of it now: live events renew it.
      plan={{ ...pools, data: pools.data && node }}
      gentle={node.poolId === null}
      fields={
        <Select
          label="Pool"
          value={to ?? ""}
          hint="Pools of the same site"
          choices={[
            { value: "", name: "No pool" },
            ...(pools.data ?? []).map((pool) => ({ value: pool.id, name: poolName(pool) })),
          ]}
          onChange={(next) => setTo(next === "" ? null : next)}
        />
      }
      verb={() => (to === null ? `Take ${node.name} out of its pool` : `Put it in ${nameOf(to)}`)}
      act={({ id, version }) => berth.fleet.assignNode({ nodeId: id, poolId: to, version })}
      done={() => `${node.name} is in ${nameOf(to)}`}
      refusal={(shown) =>
        shown.poolId === to ? `It is in ${nameOf(to)} already.` : bookedRefusal(held)
      }
    >
      {(shown) =>
        shown.poolId === to ? (
          <p>Choose where it is to go.</p>
        ) : (
          <>
            {node.poolId !== null && (
              <Consequences
                tone="ends"
                heading={`${unitsOf(node)} go from ${nameOf(node.poolId)}: nobody books them there any more`}
                items={[]}
              />
            )}
            <Consequences
              tone="stays"
              heading={
                to === null
                  ? "The node stays in the fleet, and nobody can book it"
                  : `Whoever ${nameOf(to)} is offered to may book it; its GPUs are whole or shared as that pool says`
              }
              items={[]}
            />
            <HeldNote node={node} refusal={bookedRefusal} />
          </>
        )
      }
    </PlanDialog>
  );
}

/** Pools that the node can be in. */
function useSitePools({ siteId }: NodeSchedule, tenantId: string) {
  const { queries } = useSession();
  return useQuery({
    ...queries.pools.list.queryOptions({ tenantId }),
    select: ({ pools }): Pool[] =>
      pools.filter((pool) => pool.owned && !pool.archived && pool.siteId === siteId),
  });
}

function nameIn(pools: readonly Pool[], poolId: string | null): string {
  if (poolId === null) return "no pool";
  const pool = pools.find(({ id }) => id === poolId);
  return pool === undefined ? "another pool" : poolName(pool);
}

function unitsOf({ name, units }: NodeSchedule): string {
  return units.length === 0 ? `${name}, which has no units,` : `${machineText(units)} of ${name}`;
}

/** What is in the way, where something is. */
function HeldNote({
  node,
  refusal,
}: {
  readonly node: NodeSchedule;
  readonly refusal: (held: Held) => string | null;
}): ReactNode {
  const held = heldOf(node);
  if (held.aside + held.bookings === 0) return null;
  const blocks = refusal(held) !== null;
  return (
    <Consequences
      tone={blocks ? "blocks" : "stays"}
      heading={`${blocks ? "In the way" : "Held on"}: ${heldText(held)}`}
      items={[]}
    />
  );
}

export function RemoveDialog({
  node,
  onClose,
}: Pick<MoveDialogProps, "node" | "onClose">): ReactNode {
  const { berth } = useSession();
  return (
    <PlanDialog
      title={`Remove ${node.name} from the fleet`}
      onClose={onClose}
      plan={knownPlan(node)}
      verb={(shown) => `Remove ${shown.name} and ${machineText(shown.units)}`}
      act={({ id, version }) => berth.fleet.removeNode({ nodeId: id, version })}
      done={() => `${node.name} is removed`}
      refusal={(shown) => removalRefusal(heldOf(shown))}
    >
      {(shown) => (
        <>
          <Consequences
            tone="ends"
            heading={`${unitsOf(shown)} leave the fleet, and planned maintenance with them`}
            items={[]}
          />
          <Consequences
            tone="stays"
            heading="What was booked on it stays in the records. Registered again it is the same node."
            items={[]}
          />
          <HeldNote node={shown} refusal={removalRefusal} />
        </>
      )}
    </PlanDialog>
  );
}
