/** Unit reservations: what is set aside, for whom, what of it is sold as spot, and taking it back. */
import type { UnitReservation } from "@berth/client";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import type { Method } from "../../access/can.ts";
import { gpusText } from "../../format/gpus.ts";
import { Button } from "../../ui/button.tsx";
import { StateChip } from "../../ui/chip.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { nodeName, unitsText } from "./aside.ts";
import type { AsideDialogProps, NodesById } from "./aside.ts";
import { CancelDialog, ReaffirmDialog } from "./aside-dialogs.tsx";
import styles from "./fleet.module.css";
import { ReclaimDialog } from "./reclaim-dialog.tsx";
import { SellDialog } from "./sell-dialog.tsx";
import { useNamedNodes, useUnitReservations } from "./use-fleet.ts";

type Kind = "sell" | "reclaim" | "reaffirm" | "cancel";
interface Open {
  readonly kind: Kind;
  readonly of: UnitReservation;
}

export interface AsidePanelProps {
  readonly here: NodesById;
  /** The owners of the sites, of whom other nodes may be. */
  readonly owners: readonly string[];
}

export function AsidePanel({ here, owners }: AsidePanelProps): ReactNode {
  const query = useUnitReservations();
  const nodes = useNamedNodes(here, { owners, all: query.data ?? [] });
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  return (
    <Panel title="Set aside" lead="GPUs kept for some tenants, and lent as spot meanwhile" flush>
      <Loaded query={query} what="what is set aside">
        {(all) =>
          all.length === 0 ? (
            <div className={styles["inset"]}>
              <Empty title="Nothing is set aside">
                Choose GPUs of one node below to keep them for some tenants.
              </Empty>
            </div>
          ) : (
            <AsideTable all={all} nodes={nodes} onOpen={setOpen} />
          )
        }
      </Loaded>
      {open && (
        <OpenDialog kind={open.kind} of={open.of} nodes={nodes} owners={owners} onClose={close} />
      )}
    </Panel>
  );
}

function OpenDialog({ kind, ...props }: AsideDialogProps & { readonly kind: Kind }): ReactNode {
  switch (kind) {
    case "sell":
      return <SellDialog {...props} />;
    case "reclaim":
      return <ReclaimDialog {...props} />;
    case "reaffirm":
      return <ReaffirmDialog {...props} />;
    case "cancel":
      return <CancelDialog {...props} />;
  }
}

interface AsideTableProps {
  readonly all: readonly UnitReservation[];
  readonly nodes: NodesById;
  onOpen(open: Open): void;
}

function AsideTable({ all, nodes, onOpen }: AsideTableProps): ReactNode {
  return (
    <Table
      label="Unit reservations"
      rows={all}
      rowKey={({ id }) => id}
      columns={[
        {
          id: "where",
          name: "Where",
          cell: (row) => (
            <span title={row.id}>
              <b>{nodeName(nodes, row.nodeId)}</b> {unitsText(nodes, row)}
            </span>
          ),
        },
        { id: "status", name: "State", cell: ({ status }) => <StateChip state={status} /> },
        {
          id: "for",
          name: "For",
          cell: ({ allowedOrgIds, reason }) => (
            <span dir="auto" title={reason}>
              {allowedOrgIds.join(", ")}
            </span>
          ),
        },
        { id: "sold", name: "Sold as spot", end: true, cell: soldText },
        { id: "term", name: "Term", cell: (row) => <Term of={row} /> },
        {
          id: "actions",
          name: "Actions",
          end: true,
          cell: (row) => <Actions of={row} nodes={nodes} onOpen={onOpen} />,
        },
      ]}
    />
  );
}

function soldText({ releasedUnitIds = [], reservedUnitIds }: UnitReservation): ReactNode {
  if (releasedUnitIds.length === 0) return <span className={styles["zero"]}>none</span>;
  return `${releasedUnitIds.length} of ${reservedUnitIds.length}`;
}

function Term({ of: { endsAt, startsAt } }: { readonly of: UnitReservation }): ReactNode {
  return (
    <>
      <Time at={Date.parse(startsAt)} />
      {" – "}
      {endsAt === undefined ? "until ended" : <Time at={Date.parse(endsAt)} />}
    </>
  );
}

const ACTIONS: readonly {
  readonly kind: Kind;
  readonly method: Method;
  readonly name: string;
}[] = [
  { kind: "sell", method: "unitReservations.release", name: "Sell as spot" },
  { kind: "reclaim", method: "unitReservations.reclaim", name: "Take back" },
  { kind: "reaffirm", method: "unitReservations.reaffirm", name: "Reaffirm" },
  { kind: "cancel", method: "unitReservations.cancel", name: "End" },
];

interface ActionsProps {
  readonly of: UnitReservation;
  readonly nodes: NodesById;
  onOpen(open: Open): void;
}

/** The list holds only those on own nodes and those that the tenant manages. */
const STANDING = { poolId: null, owned: true } as const;

function Actions({ of, nodes, onOpen }: ActionsProps): ReactNode {
  const may = useCan();
  const where = `${gpusText(of.reservedUnitIds.length)} on ${nodeName(nodes, of.nodeId)}`;
  return (
    <span className={styles["actions"]}>
      {ACTIONS.map(({ kind, method, name }) => (
        <Button
          key={kind}
          size="small"
          label={`${name}: ${where}`}
          reason={may(method, { unitReservation: of, node: STANDING })}
          onPress={() => onOpen({ kind, of })}
        >
          {name}
        </Button>
      ))}
    </span>
  );
}
