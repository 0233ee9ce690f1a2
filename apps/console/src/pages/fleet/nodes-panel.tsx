/** The nodes of a site on the map. GPUs are picked on it, of one node at a time. */
import type { NodeSchedule, Site } from "@berth/client";
import { useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { countText } from "../../format/gpus.ts";
import { rowsOf, statesIn } from "../../map/cells.ts";
import type { Cell, CellRow } from "../../map/cells.ts";
import { GpuMap } from "../../map/gpu-map.tsx";
import { MapKey } from "../../map/map-key.tsx";
import { NodesLoaded } from "../../map/nodes-loaded.tsx";
import type { Nodes } from "../../map/use-nodes.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { useSetSearch } from "../use-set-search.ts";
import styles from "./fleet.module.css";
import { NodeDetail } from "./node-detail.tsx";
import { NODE_STATES } from "./search.ts";
import type { FleetSearch } from "./search.ts";
import { useUnitReservations } from "./use-fleet.ts";

export interface NodesPanelProps {
  readonly sites: readonly Site[];
  readonly site: Site;
  readonly query: Nodes;
}

export function NodesPanel({ sites, site, query }: NodesPanelProps): ReactNode {
  const total = query.data?.length;
  return (
    <Panel
      title="Nodes"
      lead={
        total === undefined
          ? undefined
          : `${countText(total, "node")} in ${site.name}, ${site.region}, of ${site.tenantId}. Choose GPUs to see and change their node.`
      }
    >
      <Filters sites={sites} site={site} />
      <NodesLoaded nodes={query} lines={8}>
        {(nodes) =>
          nodes.length === 0 ? (
            <Empty title="No machines yet">
              Register them above, or on a command line: berth import FILE --site {site.name}
            </Empty>
          ) : (
            <Picking site={site} nodes={nodes} unread={query.soFar?.unread ?? []} />
          )
        }
      </NodesLoaded>
    </Panel>
  );
}

function Filters({ sites, site }: Omit<NodesPanelProps, "query">): ReactNode {
  const { q, state } = useSearch({ from: "/fleet" });
  const set = useSetSearch<FleetSearch>();
  const tenants = new Set(sites.map(({ tenantId }) => tenantId));
  return (
    <div className={styles["filters"]}>
      <Select
        label="Site"
        value={site.id}
        choices={sites.map(({ id, name, tenantId }) => ({
          value: id,
          name: tenants.size > 1 ? `${name}, ${tenantId}` : name,
        }))}
        onChange={(next) => set({ site: next, node: undefined })}
      />
      <Select
        label="State"
        value={state ?? ""}
        choices={[
          { value: "", name: "Any state" },
          ...NODE_STATES.map((each) => ({ value: each, name: each })),
        ]}
        onChange={(next) => set({ state: next === "" ? undefined : next })}
      />
      <TextField
        label="Find a node"
        type="search"
        value={q ?? ""}
        placeholder="Name or rack"
        onChange={(next) => set({ q: next === "" ? undefined : next })}
      />
    </div>
  );
}

interface PickingProps {
  readonly site: Site;
  readonly nodes: readonly NodeSchedule[];
  /** Ids of those of which it is not known yet what is to come. */
  readonly unread: readonly string[];
}

function Picking({ site, nodes, unread }: PickingProps): ReactNode {
  const { node: nodeId, rsv } = useSearch({ from: "/fleet" });
  const set = useSetSearch<FleetSearch>();
  const { zone } = useZone();
  const rows = useRows(nodes);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const node = nodes.find(({ id }) => id === nodeId);
  const onSelect = useCallback(
    (cell: Cell, row: CellRow) => {
      set({ node: row.nodeId });
      const ofNode = new Set(row.cells.map(({ unitId }) => unitId));
      setPicked((before) => {
        const kept = [...before].filter((id) => ofNode.has(id) && id !== cell.unitId);
        return new Set(before.has(cell.unitId) ? kept : [...kept, cell.unitId]);
      });
    },
    [set],
  );
  const states = useMemo(() => statesIn(rows), [rows]);
  return (
    <div className={styles["split"]} data-open={node !== undefined}>
      <div className={styles["map"]}>
        {rows.length === 0 ? (
          <Empty title="No node is like that">Take a filter away.</Empty>
        ) : (
          <GpuMap
            label={`GPUs of ${site.name}`}
            rows={rows}
            zone={zone}
            selected={rsv ?? null}
            marked={picked}
            onSelect={onSelect}
            groupName="rack"
          />
        )}
        <MapKey states={states} />
      </div>
      {node && unread.includes(node.id) && <Loading what={`the bookings of ${node.name}`} />}
      {node && !unread.includes(node.id) && (
        <NodeDetail
          key={node.id}
          site={site}
          node={node}
          picked={picked}
          onPicked={setPicked}
          onClose={() => {
            set({ node: undefined });
            setPicked(new Set());
          }}
        />
      )}
    </div>
  );
}

function useRows(nodes: readonly NodeSchedule[]): readonly CellRow[] {
  const { q, state } = useSearch({ from: "/fleet" });
  const now = useNow(5_000);
  const { data } = useUnitReservations();
  const market = useMemo(
    () => new Set((data ?? []).flatMap(({ releasedUnitIds }) => releasedUnitIds ?? [])),
    [data],
  );
  return useMemo(() => {
    const needle = q?.toLowerCase() ?? "";
    const shown = nodes.filter(
      (node) =>
        (state === undefined || node.state === state) &&
        `${node.name} ${node.labels["rack"] ?? ""}`.toLowerCase().includes(needle),
    );
    return rowsOf(shown, { now, market });
  }, [nodes, now, market, q, state]);
}
