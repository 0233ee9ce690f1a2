/** What is shown of nodes, from the first page on, with how far their reading is. */
import type { NodeSchedule } from "@berth/client";
import type { ReactNode } from "react";
import { countText } from "../format/gpus.ts";
import { Loaded, Partial, Progress } from "../ui/states.tsx";
import styles from "./gpu-map.module.css";
import { progressText } from "./nodes-so-far.ts";
import type { Nodes } from "./use-nodes.ts";

export interface NodesLoadedProps {
  readonly nodes: Nodes;
  readonly lines: number;
  readonly children: (nodes: readonly NodeSchedule[]) => ReactNode;
}

export function NodesLoaded({ nodes, lines, children }: NodesLoadedProps): ReactNode {
  const { error, isFetching, soFar } = nodes;
  const progress = soFar !== null && isFetching ? progressText(soFar) : null;
  return (
    <div className={styles["loaded"]}>
      {error !== null && soFar !== null && !soFar.isWhole && (
        <Partial>
          Not all nodes could be read: these are {countText(soFar.nodes.length, "node")}.
        </Partial>
      )}
      <Loaded query={nodes} what="nodes" lines={lines}>
        {children}
      </Loaded>
      {progress !== null && <Progress what="nodes">{progress}</Progress>}
    </div>
  );
}
