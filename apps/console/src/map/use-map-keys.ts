/** Arrows on the GPU map: along a node, to the next node, to the ends; Enter and Space select. */
import type { Virtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";
import type { MapLine } from "./map-lines.ts";

interface Keys {
  readonly lines: readonly MapLine[];
  readonly active: string | null;
  readonly virtual: Virtualizer<HTMLDivElement, HTMLDivElement>;
  readonly box: { readonly current: HTMLDivElement | null };
}

const PAGE = 10;

export function useMapKeys(keys: Keys): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    if (event.key === "Enter" || event.key === " ") {
      const cell = (event.target as HTMLElement).closest<HTMLElement>("[data-unit]");
      cell?.click();
      return event.preventDefault();
    }
    const next = target(keys, event);
    if (next === null) return;
    event.preventDefault();
    keys.virtual.scrollToIndex(next.line, { align: "auto" });
    focus(keys.box, next.unitId);
  };
}

interface Place {
  readonly line: number;
  readonly unitId: string;
}

function target({ lines, active }: Keys, { ctrlKey, key }: KeyboardEvent): Place | null {
  const at = lines.findIndex((line) => columnOf(line, active) !== -1);
  const line = lines[at];
  if (!line) return null;
  const column = columnOf(line, active);
  const nodes = lines.flatMap((each, index) => (each.kind === "node" ? [index] : []));
  const row = nodes.indexOf(at);
  switch (key) {
    case "ArrowRight":
      return cellAt(lines, at, { column: column + 1 });
    case "ArrowLeft":
      return cellAt(lines, at, { column: column - 1 });
    case "ArrowDown":
      return cellAt(lines, nodes[row + 1], { column, held: true });
    case "ArrowUp":
      return cellAt(lines, nodes[row - 1], { column, held: true });
    case "PageDown":
      return cellAt(lines, nodes[Math.min(nodes.length - 1, row + PAGE)], { column, held: true });
    case "PageUp":
      return cellAt(lines, nodes[Math.max(0, row - PAGE)], { column, held: true });
    case "Home":
      return cellAt(lines, ctrlKey ? nodes[0] : at, { column: 0 });
    case "End":
      return cellAt(lines, ctrlKey ? nodes.at(-1) : at, {
        column: Number.MAX_SAFE_INTEGER,
        held: true,
      });
    default:
      return null;
  }
}

function columnOf(line: MapLine, unitId: string | null): number {
  return line.kind === "node" ? line.row.cells.findIndex((cell) => cell.unitId === unitId) : -1;
}

/** With `held`, a row that is shorter answers its last cell. */
function cellAt(
  lines: readonly MapLine[],
  at: number | undefined,
  { column, held = false }: { readonly column: number; readonly held?: boolean },
): Place | null {
  const line = at === undefined ? undefined : lines[at];
  if (at === undefined || line?.kind !== "node") return null;
  const { cells } = line.row;
  const cell = cells[held ? Math.min(cells.length - 1, column) : column];
  return cell ? { line: at, unitId: cell.unitId } : null;
}

/** The cell may be rendered only after the scroll. */
function focus(box: Keys["box"], unitId: string, tries = 20): void {
  const cell = box.current?.querySelector<HTMLElement>(`[data-unit="${CSS.escape(unitId)}"]`);
  if (cell) cell.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focus(box, unitId, tries - 1));
}
