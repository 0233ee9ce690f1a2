/** One node: its state, its maintenance, and what may be done to the GPUs that are picked. */
import type { NodeSchedule, Pool, Site } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { gpusText } from "../../format/gpus.ts";
import { Button } from "../../ui/button.tsx";
import { StateChip } from "../../ui/chip.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { TimeRange } from "../../ui/time.tsx";
import { poolName } from "../pool-names.ts";
import { standingOf } from "./aside.ts";
import { SetAsideDialog } from "./set-aside-dialog.tsx";
import { CancelMaintenanceDialog, MaintenanceDialog } from "./maintenance-dialog.tsx";
import { HealthButtons } from "./health-buttons.tsx";
import { MoveDialog, RemoveDialog } from "./move-dialogs.tsx";
import { vfioRefusal } from "./picked.ts";
import { StateDialog } from "./state-dialog.tsx";
import styles from "./fleet.module.css";

export interface NodeDetailProps {
  readonly site: Site;
  readonly node: NodeSchedule;
  readonly picked: ReadonlySet<string>;
  onPicked(picked: ReadonlySet<string>): void;
  onClose(): void;
}

type Open =
  | "state"
  | "maintenance"
  | "aside"
  | "move"
  | "remove"
  | { readonly maintenanceId: string };

export function NodeDetail(props: NodeDetailProps): ReactNode {
  const { node, picked, onClose } = props;
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  return (
    <section className={styles["detail"]} aria-label={`Node ${node.name}`}>
      <header>
        <h3>{node.name}</h3>
        <Button kind="quiet" size="icon" label="Close the node" onPress={onClose}>
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      <State node={node} onOpen={setOpen} />
      <PoolOf {...props} onOpen={setOpen} />
      <Maintenance node={node} onOpen={setOpen} />
      <Picked {...props} onOpen={setOpen} />
      <Labels node={node} />
      {open === "state" && <StateDialog node={node} onClose={close} />}
      {open === "move" && <MoveDialog node={node} ownerId={props.site.tenantId} onClose={close} />}
      {open === "remove" && <RemoveDialog node={node} onClose={close} />}
      {open === "maintenance" && <MaintenanceDialog node={node} onClose={close} />}
      {open === "aside" && (
        <SetAsideDialog
          node={node}
          unitIds={[...picked]}
          onClose={close}
          onDone={() => props.onPicked(new Set())}
        />
      )}
      {open !== null && typeof open === "object" && (
        <CancelMaintenanceDialog node={node} maintenanceId={open.maintenanceId} onClose={close} />
      )}
    </section>
  );
}

interface PartProps {
  readonly node: NodeSchedule;
  onOpen(open: Open): void;
}

function State({ node, onOpen }: PartProps): ReactNode {
  const refusal = useCan()("fleet.setNodeState", { node: standingOf(node) });
  return (
    <div className={styles["row"]}>
      <StateChip state={node.state} />
      <Button size="small" reason={refusal} onPress={() => onOpen("state")}>
        Set state
      </Button>
    </div>
  );
}

function PoolOf({ node, site, onOpen }: NodeDetailProps & PartProps): ReactNode {
  const may = useCan();
  const { queries } = useSession();
  const { data } = useQuery(queries.pools.list.queryOptions({ tenantId: site.tenantId }));
  const pool = data?.pools.find(({ id }) => id === node.poolId);
  const row = { node: standingOf(node) };
  return (
    <div className={styles["part"]}>
      <h4>Pool</h4>
      <p className={styles["quiet"]} dir="auto">
        {node.poolId === null ? "In no pool: nobody can book it" : poolOf(pool, node.poolId)}
      </p>
      <div className={styles["buttons"]}>
        <Button size="small" reason={may("fleet.assignNode", row)} onPress={() => onOpen("move")}>
          {node.poolId === null ? "Put in a pool" : "Change pool"}
        </Button>
        <Button size="small" reason={may("fleet.removeNode", row)} onPress={() => onOpen("remove")}>
          Remove from the fleet
        </Button>
      </div>
    </div>
  );
}

function poolOf(pool: Pool | undefined, poolId: string): string {
  return pool === undefined ? shortId(poolId) : poolName(pool);
}

function Maintenance({ node, onOpen }: PartProps): ReactNode {
  const may = useCan();
  const row = { node: standingOf(node) };
  return (
    <div className={styles["part"]}>
      <div className={styles["row"]}>
        <h4>Maintenance</h4>
        <Button
          size="small"
          reason={may("fleet.scheduleMaintenance", row)}
          onPress={() => onOpen("maintenance")}
        >
          Plan maintenance
        </Button>
      </div>
      {node.maintenance.length === 0 && <p className={styles["quiet"]}>None is planned.</p>}
      {node.maintenance.map(({ from, id, to }) => (
        <div key={id} className={styles["row"]}>
          <TimeRange start={from} end={to} />
          <Button
            size="small"
            reason={may("fleet.cancelMaintenance", row)}
            onPress={() => onOpen({ maintenanceId: id })}
          >
            Call off
          </Button>
        </div>
      ))}
    </div>
  );
}

function Picked({ node, picked, onOpen }: NodeDetailProps & PartProps): ReactNode {
  const may = useCan();
  const units = node.units.filter(({ id }) => picked.has(id));
  const names = units.map(({ index }) => index).toSorted((a, b) => a - b);
  const refusal =
    may("unitReservations.create", { node: standingOf(node) }) ??
    (units.length === 0 ? "Choose GPUs of the node on the map." : null) ??
    vfioRefusal(units);
  return (
    <div className={styles["part"]}>
      <h4>{units.length === 0 ? "No GPU chosen" : `GPU ${names.join(", ")} chosen`}</h4>
      <div className={styles["buttons"]}>
        <Button size="small" kind="primary" reason={refusal} onPress={() => onOpen("aside")}>
          {units.length === 0 ? "Set aside" : `Set ${gpusText(units.length)} aside`}
        </Button>
        <HealthButtons node={node} units={units} />
      </div>
    </div>
  );
}

function Labels({ node }: { readonly node: NodeSchedule }): ReactNode {
  const labels = Object.entries(node.labels);
  return (
    <dl className={styles["labels"]}>
      {node.address !== null && (
        <>
          <dt>Address</dt>
          <dd>
            <CopyText text={node.address} label={`the address of ${node.name}`} />
          </dd>
        </>
      )}
      <dt>Generation</dt>
      <dd>{node.topologyGen}</dd>
      {labels.map(([name, value]) => (
        <div key={name} className={styles["label"]}>
          <dt dir="auto">{name}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
