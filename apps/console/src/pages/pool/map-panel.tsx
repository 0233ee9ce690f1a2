/** The pool's GPUs on the map, or those nodes alone that a cause rules out. */
import type { NodeSchedule, Pool } from "@berth/client";
import { useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { countText } from "../../format/gpus.ts";
import { isRuledOut, isTold } from "../../map/cause.ts";
import { rowsOf, statesIn } from "../../map/cells.ts";
import type { Cell, CellRow } from "../../map/cells.ts";
import { GpuMap } from "../../map/gpu-map.tsx";
import { MapKey } from "../../map/map-key.tsx";
import { NodesLoaded } from "../../map/nodes-loaded.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { Button } from "../../ui/button.tsx";
import { Segmented } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Partial } from "../../ui/states.tsx";
import { LIVE_STATES, useReservations } from "../use-reservations.ts";
import { useSetSearch } from "../use-set-search.ts";
import { MachinesDialog } from "./machines-dialog.tsx";
import type { PoolSearch } from "./search.ts";
import { UnitFacts } from "./unit-facts.tsx";

export function MapPanel({ pool }: { readonly pool: Pool }): ReactNode {
  const { group } = useSearch({ from: "/pools/$poolId" });
  const set = useSetSearch<PoolSearch>();
  const query = useNodes({ poolId: pool.id });
  return (
    <Panel
      title="Nodes"
      lead="Every node a row, every GPU a cell; choose one to see what is known of it"
      actions={
        <>
          <Segmented
            label="Put together"
            bare
            value={group ?? "rack"}
            choices={[
              { value: "rack", name: "By rack" },
              { value: "nvlink", name: "By NVLink" },
            ]}
            onChange={(next) => set({ group: next === "nvlink" ? next : undefined })}
          />
          <Machines pool={pool} />
        </>
      }
    >
      <NodesLoaded nodes={query} lines={8}>
        {(nodes) =>
          nodes.length === 0 ? (
            <Empty title="No nodes">The owner puts machines into the pool.</Empty>
          ) : (
            <Map pool={pool} nodes={nodes} />
          )
        }
      </NodesLoaded>
    </Panel>
  );
}

function Machines({ pool }: { readonly pool: Pool }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const refusal = useCan()("fleet.assignNode", { node: { poolId: pool.id, owned: pool.owned } });
  return (
    <>
      <Button size="small" reason={refusal} onPress={() => setOpen(true)}>
        Machines
      </Button>
      {isOpen && <MachinesDialog pool={pool} onClose={() => setOpen(false)} />}
    </>
  );
}

interface MapProps {
  readonly pool: Pool;
  readonly nodes: readonly NodeSchedule[];
}

function Map({ pool, nodes }: MapProps): ReactNode {
  const { group, rsv, unit } = useSearch({ from: "/pools/$poolId" });
  const set = useSetSearch<PoolSearch>();
  const { zone } = useZone();
  const shown = useShownNodes(nodes);
  const rows = useRows(shown, pool.id);
  const states = useMemo(() => statesIn(rows), [rows]);
  const onSelect = useCallback(
    ({ reservationId, unitId }: Cell) =>
      set(
        reservationId === null
          ? { rsv: undefined, unit: unitId }
          : { rsv: reservationId, unit: undefined },
      ),
    [set],
  );
  const chosen = chosenOf(rows, unit);
  const marked = useMemo(() => new Set(unit === undefined ? [] : [unit]), [unit]);
  return (
    <>
      <CauseFilter shown={shown.length} all={nodes.length} />
      <GpuMap
        label="GPUs of the pool"
        rows={rows}
        zone={zone}
        selected={rsv ?? null}
        marked={marked}
        onSelect={onSelect}
        groupName={group === "nvlink" ? "NVLink domain" : "rack"}
      />
      <MapKey states={states} />
      {chosen && <UnitFacts pool={pool} {...chosen} onClose={() => set({ unit: undefined })} />}
    </>
  );
}

/** The GPU that the address names; null where it names none of these, or one that the tenant has. */
function chosenOf(
  rows: readonly CellRow[],
  unit: string | undefined,
): { readonly row: CellRow; readonly cell: Cell } | null {
  for (const row of unit === undefined ? [] : rows) {
    const cell = row.cells.find(({ unitId }) => unitId === unit);
    // One of the tenant's own bookings has facts of its own.
    if (cell?.reservationId === null) return { row, cell };
  }
  return null;
}

/** Cells change when a booking begins or ends, so they are made again every few seconds. */
function useRows(nodes: readonly NodeSchedule[], poolId: string): readonly CellRow[] {
  const { group } = useSearch({ from: "/pools/$poolId" });
  const now = useNow(5_000);
  const own = useReservations({ poolId, state: LIVE_STATES });
  const spot = useMemo(
    () => new Set((own.data ?? []).filter((each) => each.spot).map(({ id }) => id)),
    [own.data],
  );
  return useMemo(() => rowsOf(nodes, { now, spot }, group ?? "rack"), [nodes, now, spot, group]);
}

function useShownNodes(nodes: readonly NodeSchedule[]): readonly NodeSchedule[] {
  const { cause, end, gpus = 1, start } = useSearch({ from: "/pools/$poolId" });
  const now = useNow(5_000);
  return useMemo(() => {
    if (cause === undefined) return nodes;
    const from = start ?? now;
    const ask = { start: from, end: end ?? from + 1, gpus };
    return nodes.filter((node) => isRuledOut(cause, node, ask));
  }, [nodes, cause, start, end, gpus, now]);
}

const CAUSES: Readonly<Record<string, string>> = {
  NODE_STATE: "not ready",
  MAINTENANCE: "in maintenance in that time",
  UNHEALTHY: "with too few healthy GPUs",
  WITHHELD: "with GPUs that are set aside",
  COUNT: "with too few GPUs even when empty",
  BUSY: "booked in that time",
  GANG: "that take a part, but not enough of them",
};

function CauseFilter({ shown, all }: { readonly shown: number; readonly all: number }): ReactNode {
  const { cause } = useSearch({ from: "/pools/$poolId" });
  const set = useSetSearch<PoolSearch>();
  if (cause === undefined) return null;
  return (
    <Partial>
      {isTold(cause)
        ? `${shown} of ${countText(all, "node")}: ${CAUSES[cause] ?? cause}.`
        : `The map cannot tell which nodes ${cause} speaks of: all are shown.`}{" "}
      <Button
        size="small"
        onPress={() => set({ cause: undefined, start: undefined, end: undefined, gpus: undefined })}
      >
        Show all nodes
      </Button>
    </Partial>
  );
}
