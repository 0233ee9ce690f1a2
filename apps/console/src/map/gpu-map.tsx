/**
 * The GPU map: every node a row, every GPU a cell. A grid for the keyboard and for screen readers: the tab key stops
 * once, arrows go from cell to cell. Rows are virtual, so a thousand nodes cost what a screenful does.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { Range } from "@tanstack/react-virtual";
import { useCallback, useMemo, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { Moment } from "../format/free.ts";
import { nameOnHover } from "../ui/name-on-hover.ts";
import type { Cell, CellRow } from "./cells.ts";
import styles from "./gpu-map.module.css";
import { GroupRow, NodeRow } from "./map-row.tsx";
import type { MapView } from "./map-row.tsx";
import { linesOf } from "./map-lines.ts";
import type { MapLine } from "./map-lines.ts";
import { useMapKeys } from "./use-map-keys.ts";

export interface GpuMapProps {
  /** What the map shows, for a screen reader. */
  readonly label: string;
  readonly rows: readonly CellRow[];
  readonly zone: string;
  /** The rows are of this moment; absent: now. */
  readonly moment?: Moment;
  /** The selected reservation: all of its cells are lit. */
  readonly selected: string | null;
  onSelect(cell: Cell, row: CellRow): void;
  /** What the group of a row is, such as `rack`: names the rows between the groups. */
  readonly groupName: string;
  /** Units that are marked beside: candidates of a request, or what the person picks. */
  readonly marked?: ReadonlySet<string> | undefined;
}

const NODE_PX = 36;
const GROUP_PX = 30;

export function GpuMap(props: GpuMapProps): ReactNode {
  const { label, rows, zone, selected, onSelect, groupName, marked } = props;
  const { moment = "now" } = props;
  const lines = useMemo(() => linesOf(rows, moment), [rows, moment]);
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const activeAt = active === null ? -1 : lines.findIndex((line) => holds(line, active));
  const virtual = useLines(lines, box, activeAt);
  const view = useMemo<MapView>(
    () => ({ zone, moment, selected, marked: marked ?? NONE, onSelect, onFocus: setActive }),
    [zone, moment, selected, marked, onSelect],
  );
  const shown = virtual.getVirtualItems();
  const stop = activeAt === -1 ? firstCell(lines, shown) : active;
  const onKeyDown = useMapKeys({ lines, active, virtual, box });
  const widest = Math.max(1, ...rows.map(({ cells }) => cells.length));

  return (
    <div ref={box} className={styles["box"]}>
      <div
        role="grid"
        aria-label={label}
        aria-rowcount={lines.length}
        aria-colcount={widest + 1}
        className={styles["body"]}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
        onPointerOver={nameOnHover}
      >
        {shown.map(({ index, start }) => {
          const line = lines[index];
          if (!line) return null;
          return line.kind === "group" ? (
            <GroupRow
              key={`group ${line.group}`}
              line={line}
              name={groupName}
              at={index}
              top={start}
            />
          ) : (
            <NodeRow
              key={line.row.nodeId}
              row={line.row}
              view={view}
              at={index}
              top={start}
              tabStop={stop !== null && holds(line, stop) ? stop : null}
            />
          );
        })}
      </div>
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();

function holds(line: MapLine, unitId: string): boolean {
  return line.kind === "node" && line.row.cells.some((cell) => cell.unitId === unitId);
}

function firstCell(
  lines: readonly MapLine[],
  shown: readonly { readonly index: number }[],
): string | null {
  for (const { index } of shown) {
    const line = lines[index];
    if (line?.kind === "node" && line.row.cells[0]) return line.row.cells[0].unitId;
  }
  return null;
}

/** The row that has the focus stays rendered, or the focus would be lost with it. */
function useLines(
  lines: readonly MapLine[],
  box: { readonly current: HTMLDivElement | null },
  activeAt: number,
) {
  const rangeExtractor = useCallback(
    (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return activeAt === -1 || shown.includes(activeAt)
        ? shown
        : [...shown, activeAt].toSorted((a, b) => a - b);
    },
    [activeAt],
  );
  // The same function as long as the lines are: with a new one all of them are measured again at each scroll.
  const getItemKey = useCallback(
    (index: number) => {
      const line = lines[index];
      if (!line) return index;
      return line.kind === "group" ? `group ${line.group}` : line.row.nodeId;
    },
    [lines],
  );
  return useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (lines[index]?.kind === "group" ? GROUP_PX : NODE_PX),
    getItemKey,
    overscan: 6,
    rangeExtractor,
  });
}
