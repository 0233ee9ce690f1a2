/** Marks the picked GPUs faulty or sound. */
import type { NodeSchedule, UnitSchedule } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { Button } from "../../ui/button.tsx";
import { standingOf } from "./aside.ts";
import { healthRefusal } from "./picked.ts";

export interface HealthButtonsProps {
  readonly node: NodeSchedule;
  readonly units: readonly UnitSchedule[];
}

export function HealthButtons({ node, units }: HealthButtonsProps): ReactNode {
  const { berth } = useSession();
  const client = useQueryClient();
  const may = useCan()("fleet.setUnitHealth", { node: standingOf(node) });
  const marking = useMutation({
    mutationFn: async (healthy: boolean) => {
      // One after the other: each raises the node's version.
      for (const { id } of units.filter((unit) => unit.healthy !== healthy))
        await berth.fleet.setUnitHealth({ unitId: id, healthy });
    },
    onSuccess: (_done, healthy) => toast.success(healthy ? "Marked sound" : "Marked faulty"),
    onError: (error) => toast.error(error.message),
    onSettled: () => client.invalidateQueries(),
  });
  const reason = (healthy: boolean): string | null => {
    if (may !== null) return may;
    if (units.length === 0) return "Choose GPUs of the node on the map.";
    return healthRefusal(units, healthy);
  };
  return (
    <>
      <Button
        size="small"
        busy={marking.isPending}
        reason={reason(false)}
        onPress={() => marking.mutate(false)}
      >
        Mark faulty
      </Button>
      <Button
        size="small"
        busy={marking.isPending}
        reason={reason(true)}
        onPress={() => marking.mutate(true)}
      >
        Mark sound
      </Button>
    </>
  );
}
