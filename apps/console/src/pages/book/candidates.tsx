/** Where it would go: the pool's map with the units that the answer names. */
import type { Pool } from "@berth/client";
import { useMemo } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { rowsOf, statesIn } from "../../map/cells.ts";
import { GpuMap } from "../../map/gpu-map.tsx";
import { MapKey } from "../../map/map-key.tsx";
import { NodesLoaded } from "../../map/nodes-loaded.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { placedOf, takenText } from "./outcome.ts";
import type { Quoting } from "./use-quote.ts";

export interface CandidatesProps {
  readonly pool: Pool;
  readonly quoting: Pick<Quoting, "answer" | "ask" | "isCurrent">;
}

export function Candidates({ pool, quoting }: CandidatesProps): ReactNode {
  const { answer, ask, isCurrent } = quoting;
  const { zone } = useZone();
  const now = useNow(10_000);
  // The map is as the pool will be when it begins.
  const at = answer?.preview.start ?? now;
  const query = useNodes({ poolId: pool.id });
  const preview = answer?.preview;
  const request = ask.ok ? ask.request : null;
  const { taken, instead } = useMemo(
    () => (preview && request ? placedOf(preview, request) : { taken: [], instead: [] }),
    [preview, request],
  );
  // The nodes stay while the form is tried anew; what it would take of them is not known meanwhile.
  const marked = useMemo(
    () => new Set(isCurrent ? taken.flatMap(({ atoms }) => atoms) : []),
    [isCurrent, taken],
  );
  const first = useMemo(
    () => new Set([...taken, ...instead].map(({ nodeId }) => nodeId)),
    [taken, instead],
  );
  const rows = useMemo(() => {
    const all = rowsOf(query.data ?? [], { now: at });
    return first.size === 0 ? all : all.filter(({ nodeId }) => first.has(nodeId));
  }, [query.data, at, first]);
  const states = useMemo(() => statesIn(rows), [rows]);
  const lead =
    first.size === 0
      ? "All nodes of the pool, as they are when it would begin"
      : isCurrent
        ? takenText({ taken, instead })
        : "Being tried";
  return (
    <Panel title={first.size === 0 ? "The pool at that time" : "Where it would go"} lead={lead}>
      <NodesLoaded nodes={query} lines={6}>
        {(nodes) =>
          nodes.length === 0 ? (
            <Empty title="No nodes">The owner puts machines into the pool.</Empty>
          ) : (
            <>
              <GpuMap
                label={first.size === 0 ? "GPUs of the pool" : "Nodes that would or could take it"}
                rows={rows}
                zone={zone}
                moment={answer === null ? "now" : "then"}
                selected={null}
                marked={marked}
                groupName="rack"
                onSelect={() => undefined}
              />
              <MapKey states={states} />
            </>
          )
        }
      </NodesLoaded>
    </Panel>
  );
}
