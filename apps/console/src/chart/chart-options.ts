/** How uPlot draws steps in the console's look. */
import type uPlot from "uplot";
import { timeText } from "../format/time.ts";
import { ticksOf } from "../lanes/ticks.ts";
import type { Series } from "./step-chart.tsx";

interface Look {
  readonly most: number;
  readonly series: readonly Series[];
  readonly zone: string;
  readonly colour: (name: string) => string;
  onCursor(index: number | null): void;
  /** Draws a value until the next one. */
  readonly stepped: uPlot.Series.PathBuilder | undefined;
}

/** A canvas knows no custom properties: what one comes to here is read from an element. */
export function colourOf(within: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  within.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const FONT = "11px ui-sans-serif, system-ui, sans-serif";
const DAY_S = 86_400;

export function chartOptions({
  most,
  series,
  zone,
  colour,
  onCursor,
  stepped,
}: Look): Omit<uPlot.Options, "width" | "height"> {
  const axis = {
    stroke: colour("--muted"),
    font: FONT,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    legend: { show: false },
    series: [
      {},
      ...series.map(({ colour: name, filled = false }): uPlot.Series => ({
        stroke: colour(name),
        width: 1.5,
        points: { show: false },
        ...(stepped === undefined ? {} : { paths: stepped }),
        ...(filled ? { fill: colour(name) } : {}),
      })),
    ],
    scales: { x: { time: false }, y: { range: [0, Math.max(1, most)] } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (self, splits) => splits.map((at) => mark(at, { zone, wide: widthOf(self) })),
        splits: (self) => splitsOf(self, zone),
      },
      {
        ...axis,
        size: 44,
        // Nothing, half and all: the top of the axis is what there is.
        splits: () => [...new Set([0, Math.round(most / 2), most])],
        values: (_self, splits) => splits.map((value) => String(value)),
      },
    ],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [(self) => onCursor(self.cursor.idx ?? null)] },
  };
}

function widthOf({ scales }: uPlot): number {
  return (scales["x"]?.max ?? 0) - (scales["x"]?.min ?? 0);
}

/** Round times of the viewer's zone, as the lanes have them. */
function splitsOf({ scales, width }: uPlot, zone: string): number[] {
  const { min = 0, max = 0 } = scales["x"] ?? {};
  const window = { from: min * 1_000, to: max * 1_000 };
  return ticksOf(window, zone, Math.max(2, Math.floor(width / 110))).map(({ at }) => at / 1_000);
}

function mark(
  at: number,
  { zone, wide }: { readonly zone: string; readonly wide: number },
): string {
  const ms = at * 1_000;
  // Marks have room for no year: the chart's name and what is said of a point have it.
  return timeText(ms, zone, { style: wide <= 2 * DAY_S ? "clock" : "day", now: ms });
}
