/** The machines of the pool's site, for its owner: which are in the pool, which could be, and their way in and out. */
import type { NodeSchedule, Pool } from "@berth/client";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { countText } from "../../format/gpus.ts";
import { NodesLoaded } from "../../map/nodes-loaded.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { Button } from "../../ui/button.tsx";
import { StateChip } from "../../ui/chip.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty, Partial } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { standingOf } from "../fleet/aside.ts";
import { MoveDialog, RemoveDialog } from "../fleet/move-dialogs.tsx";
import { usePoolNames } from "../pool-names.ts";
import styles from "./pool.module.css";

/** More rows than these are found by name. */
const SHOWN_MAX = 25;

interface Open {
  readonly kind: "in" | "out" | "remove";
  readonly nodeId: string;
}

export interface MachinesDialogProps {
  readonly pool: Pool;
  readonly onClose: () => void;
}

export function MachinesDialog({ pool, onClose }: MachinesDialogProps): ReactNode {
  const query = useNodes({ tenantId: pool.tenantId, siteId: pool.siteId });
  const [open, setOpen] = useState<Open | null>(null);
  // What is known at a glance alone has no plan yet.
  const isRead = open !== null && query.soFar?.unread.includes(open.nodeId) === false;
  const node = isRead ? query.data?.find(({ id }) => id === open.nodeId) : undefined;
  const back = (): void => setOpen(null);
  if (node && open?.kind === "remove") return <RemoveDialog node={node} onClose={back} />;
  if (node && open) {
    const to = open.kind === "in" ? pool.id : null;
    return <MoveDialog node={node} ownerId={pool.tenantId} to={to} onClose={back} />;
  }
  return (
    <Dialog title="Machines of the pool" isOpen wide onClose={onClose}>
      <NodesLoaded nodes={query} lines={6}>
        {(nodes) =>
          nodes.length === 0 ? (
            <Empty title="The site has no machines">Register them on the fleet page first.</Empty>
          ) : (
            <Machines pool={pool} nodes={nodes} onOpen={setOpen} />
          )
        }
      </NodesLoaded>
    </Dialog>
  );
}

interface MachinesProps {
  readonly pool: Pool;
  readonly nodes: readonly NodeSchedule[];
  onOpen(open: Open): void;
}

function Machines({ pool, nodes, onOpen }: MachinesProps): ReactNode {
  const [needle, setNeedle] = useState("");
  const { nameOf } = usePoolNames();
  const found = nodes
    .filter(({ name }) => name.toLowerCase().includes(needle.trim().toLowerCase()))
    .toSorted((a, b) => rank(a, pool) - rank(b, pool) || NAMES.compare(a.name, b.name));
  const inPool = nodes.filter(({ poolId }) => poolId === pool.id).length;
  return (
    <div className={styles["offer"]}>
      <p>
        {countText(inPool, "node")} of {nodes.length} at the site {inPool === 1 ? "is" : "are"} in
        this pool.
      </p>
      <TextField
        label="Find a node"
        type="search"
        value={needle}
        placeholder="Name"
        onChange={setNeedle}
      />
      {found.length > SHOWN_MAX && (
        <Partial>
          The first {SHOWN_MAX} of {found.length}: find others by name.
        </Partial>
      )}
      <Table
        label="Machines of the site"
        rows={found.slice(0, SHOWN_MAX)}
        rowKey={({ id }) => id}
        columns={[
          { id: "name", name: "Node", cell: ({ name }) => <b dir="auto">{name}</b> },
          { id: "state", name: "State", cell: ({ state }) => <StateChip state={state} /> },
          {
            id: "pool",
            name: "Pool",
            cell: ({ poolId }) => (
              <span dir="auto">{poolId === null ? "in none" : poolText(poolId, pool, nameOf)}</span>
            ),
          },
          {
            id: "actions",
            name: "Actions",
            end: true,
            cell: (node) => <Actions pool={pool} node={node} onOpen={onOpen} />,
          },
        ]}
      />
    </div>
  );
}

const NAMES = new Intl.Collator("en", { numeric: true });

/** What can come in is first, then what is in. */
function rank({ poolId }: NodeSchedule, { id }: Pool): number {
  if (poolId === null) return 0;
  return poolId === id ? 1 : 2;
}

function poolText(poolId: string, { id }: Pool, nameOf: (poolId: string) => string): string {
  return poolId === id ? "in this one" : nameOf(poolId);
}

interface ActionsProps {
  readonly pool: Pool;
  readonly node: NodeSchedule;
  onOpen(open: Open): void;
}

function Actions({ pool, node, onOpen }: ActionsProps): ReactNode {
  const may = useCan();
  const row = { node: standingOf(node) };
  const isIn = node.poolId === pool.id;
  const kind = isIn ? "out" : "in";
  const verb = isIn ? "Take out" : "Put in";
  return (
    <span className={styles["actions"]}>
      <Button
        size="small"
        label={`${verb} ${node.name}`}
        reason={may("fleet.assignNode", row)}
        onPress={() => onOpen({ kind, nodeId: node.id })}
      >
        {verb}
      </Button>
      <Button
        size="small"
        label={`Remove ${node.name} from the fleet`}
        reason={may("fleet.removeNode", row)}
        onPress={() => onOpen({ kind: "remove", nodeId: node.id })}
      >
        Remove
      </Button>
    </span>
  );
}
