/** Sell: which of the GPUs that are set aside go to the spot market. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { gpusText } from "../../format/gpus.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { nodeName } from "./aside.ts";
import type { AsideDialogProps } from "./aside.ts";

export function SellDialog({ of, nodes, onClose }: AsideDialogProps): ReactNode {
  const { berth } = useSession();
  const client = useQueryClient();
  const sold = new Set(of.releasedUnitIds ?? []);
  const idle = of.reservedUnitIds.filter((id) => !sold.has(id));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(idle));
  const selling = useMutation({
    mutationFn: () => {
      const { id: reservationId, nodeId } = of;
      return berth.unitReservations.release({ nodeId, reservationId, unitIds: [...chosen] });
    },
    onSuccess: () => {
      toast.success(`${gpusText(chosen.size)} on the spot market`);
      void client.invalidateQueries();
      onClose();
    },
  });
  const units = nodes.get(of.nodeId)?.units ?? [];
  const nameOf = (id: string): string => {
    const index = units.find((unit) => unit.id === id)?.index;
    return index === undefined ? shortId(id) : `GPU ${index}`;
  };
  const toggle = (id: string, on: boolean): void =>
    setChosen(new Set(on ? [...chosen, id] : [...chosen].filter((each) => each !== id)));
  return (
    <Dialog
      title={`Sell GPUs of ${nodeName(nodes, of.nodeId)} as spot`}
      isOpen
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb={`Sell ${gpusText(chosen.size)} as spot`}
          reason={chosen.size === 0 ? "Choose at least one GPU." : null}
          busy={selling.isPending}
          onAct={() => selling.mutate()}
        />
      }
    >
      <p>
        They stay set aside. Whoever has an offer may book them, as spot and not otherwise, until
        you take them back.
      </p>
      {idle.length === 0 && <p>All of them are on the market already.</p>}
      <div>
        {idle.map((id) => (
          <Checkbox
            key={id}
            label={nameOf(id)}
            checked={chosen.has(id)}
            onChange={(on) => toggle(id, on)}
          />
        ))}
      </div>
      {selling.error !== null && <ErrorBox error={selling.error} />}
    </Dialog>
  );
}
