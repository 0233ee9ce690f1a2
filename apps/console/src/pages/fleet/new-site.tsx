/** A new site of the tenant in view: a place with machines, which pools are made on. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useSession } from "../../app/session.tsx";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { useSetSearch } from "../use-set-search.ts";
import styles from "./fleet.module.css";
import type { FleetSearch } from "./search.ts";

export function NewSite({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { tenantId } = useSession();
  const [name, setName] = useState("");
  const [region, setRegion] = useState("");
  const making = useMake(onClose);
  const isMissing = name.trim() === "" || region.trim() === "";
  return (
    <Dialog
      title={`New site of ${tenantId}`}
      isOpen
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb="Make the site"
          reason={isMissing ? "A site has a name and a region." : null}
          busy={making.isPending}
          onAct={() => making.mutate({ name: name.trim(), region: region.trim() })}
        />
      }
    >
      <div className={styles["pair"]}>
        <TextField
          label="Name"
          value={name}
          autoFocus
          maxLength={256}
          hint="The same name is the same site"
          onChange={setName}
        />
        <TextField
          label="Region"
          value={region}
          maxLength={256}
          hint="What bookers see of where it is"
          onChange={setRegion}
        />
      </div>
      {making.error !== null && <ErrorBox error={making.error} />}
    </Dialog>
  );
}

function useMake(onDone: () => void) {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  const set = useSetSearch<FleetSearch>();
  return useMutation({
    mutationFn: (site: { readonly name: string; readonly region: string }) =>
      berth.fleet.putSite({ tenantId, ...site }),
    onSuccess: ({ id, name }) => {
      toast.success(`The site ${name} is made`);
      void client.invalidateQueries();
      set({ site: id, node: undefined });
      onDone();
    },
  });
}
