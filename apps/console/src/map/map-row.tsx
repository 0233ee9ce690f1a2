/** The rows of the GPU map. */
import { memo } from "react";
import type { ReactNode } from "react";
import type { Moment } from "../format/free.ts";
import { countText } from "../format/gpus.ts";
import { timeText } from "../format/time.ts";
import type { Cell, CellRow } from "./cells.ts";
import { partsFree } from "./cells.ts";
import styles from "./gpu-map.module.css";
import type { MapLine } from "./map-lines.ts";
import { LOOKS, cellName, freeText, nextChange } from "./words.ts";

/** What all rows share. */
export interface MapView {
  readonly zone: string;
  readonly moment: Moment;
  readonly selected: string | null;
  readonly marked: ReadonlySet<string>;
  onSelect(cell: Cell, row: CellRow): void;
  onFocus(unitId: string): void;
}

interface GroupProps {
  readonly line: Extract<MapLine, { kind: "group" }>;
  readonly name: string;
  readonly at: number;
  readonly top: number;
}

export function GroupRow({ line, name, at, top }: GroupProps): ReactNode {
  const { free, group, nodes } = line;
  const label = group === "" ? `no ${name}` : `${name} ${group}`;
  return (
    <div role="row" aria-rowindex={at + 1} className={styles["group"]} style={{ top }}>
      <div role="rowheader" className={styles["groupName"]}>
        <b title={label}>{label}</b>
        <span>
          {countText(nodes, "node")}, {free}
        </span>
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: CellRow;
  readonly view: MapView;
  readonly at: number;
  readonly top: number;
  /** The cell that the tab key reaches, when it is in this row. */
  readonly tabStop: string | null;
}

export const NodeRow = memo(function NodeRow({ row, view, at, top, tabStop }: RowProps): ReactNode {
  const next = nextChange(row);
  const isOut = row.nodeState !== "ready";
  return (
    <div role="row" aria-rowindex={at + 1} className={styles["node"]} style={{ top }}>
      <div role="rowheader" className={styles["name"]} title={row.name}>
        {row.name}
      </div>
      <div role="presentation" className={styles["cells"]}>
        {row.cells.map((cell, index) => (
          <GpuCell
            key={cell.unitId}
            cell={cell}
            row={row}
            view={view}
            isStop={cell.unitId === tabStop}
            isApart={isApart(row.cells[index - 1], cell)}
          />
        ))}
      </div>
      <div role="gridcell" className={styles["facts"]}>
        <b>{isOut ? row.nodeState : freeText(row, view.moment)}</b>
        {!isOut && next !== null && <span>changes {timeText(next, view.zone)}</span>}
      </div>
    </div>
  );
});

/** A gap between GPUs that no NVLink joins. */
function isApart(before: Cell | undefined, cell: Cell): boolean {
  return before !== undefined && before.nvlinkDomain !== cell.nvlinkDomain;
}

interface CellProps {
  readonly cell: Cell;
  readonly row: CellRow;
  readonly view: MapView;
  readonly isStop: boolean;
  readonly isApart: boolean;
}

const GpuCell = memo(function GpuCell(props: CellProps): ReactNode {
  const { cell, row, view, isStop, isApart: apart } = props;
  const name = cellName(cell, row, view.zone);
  const own = [cell.reservationId, ...cell.parts.map((part) => part.reservationId)];
  const isSelected = view.selected !== null && own.includes(view.selected);
  const shared = partsFree(cell);
  return (
    <div
      role="gridcell"
      className={styles["cell"]}
      data-state={shared ? "shared" : cell.state}
      data-unit={cell.unitId}
      data-apart={apart || undefined}
      data-marked={view.marked.has(cell.unitId) || undefined}
      aria-selected={isSelected || view.marked.has(cell.unitId)}
      aria-label={name}
      tabIndex={isStop ? 0 : -1}
      onClick={() => view.onSelect(cell, row)}
      onFocus={() => view.onFocus(cell.unitId)}
      data-lit={isSelected || undefined}
    >
      {shared ? <Parts cell={cell} free={shared.free} /> : LOOKS[cell.state].glyph}
    </div>
  );
});

/** More would be narrower than a pixel or two; then a bar stands for all of them. */
const PARTS_DRAWN = 8;

function Parts({ cell, free }: { readonly cell: Cell; readonly free: number }): ReactNode {
  const all = cell.parts.length;
  return (
    <>
      <span className={styles["parts"]}>
        {all <= PARTS_DRAWN ? (
          cell.parts.map(({ unitId, state }) => <i key={unitId} data-state={state} />)
        ) : (
          <i data-state="booked" style={{ flex: `0 0 ${((all - free) / all) * 100}%` }} />
        )}
      </span>
      <span className={styles["count"]}>
        {free}/{all}
      </span>
    </>
  );
}
