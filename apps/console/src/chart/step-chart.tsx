/**
 * Counts over time as steps, drawn by uPlot. A canvas says nothing by itself: the figure has a name, arrows move a
 * cursor whose numbers are said, and the same numbers are a table below.
 */
import { useEffect, useRef, useState } from "react";
import type { KeyboardEvent, ReactNode } from "react";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "./use-theme.ts";
import { chartOptions, colourOf } from "./chart-options.ts";
import styles from "./step-chart.module.css";

export interface Series {
  readonly name: string;
  /** A custom property, such as `--booked`. */
  readonly colour: string;
  readonly values: readonly number[];
  readonly filled?: boolean;
}

export interface StepChartProps {
  /** What it shows, in a sentence. */
  readonly label: string;
  /** Milliseconds since the epoch; each value holds until the next time. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** The top of the axis. */
  readonly most: number;
  readonly zone: string;
  /** An instant in words. */
  readonly say: (at: number) => string;
}

export function StepChart(props: StepChartProps): ReactNode {
  const { label, times, series, say } = props;
  const [at, setAt] = useState<number | null>(null);
  const plot = useRef<uPlot | null>(null);
  const host = useRef<HTMLDivElement>(null);
  usePlot({ props, host, plot, onCursor: setAt });
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -times.length, End: times.length };
    const step = (steps as Readonly<Record<string, number>>)[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(times.length - 1, Math.max(0, (at ?? -1) + step));
    setAt(next);
    plot.current?.setCursor({
      left: plot.current.valToPos((times[next] ?? 0) / 1_000, "x"),
      top: 10,
    });
  };
  const time = at === null ? undefined : times[at];
  return (
    <div className={styles["chart"]}>
      <div
        ref={host}
        role="figure"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className={styles["plot"]}
      />
      <p className={styles["readout"]} aria-live="polite">
        {time === undefined || at === null ? (
          <span>Point at the chart, or move along it with the arrows</span>
        ) : (
          <>
            <b>{say(time)}</b>
            {series.map(({ colour, name, values }) => (
              <span key={name}>
                <i style={{ background: `var(${colour})` }} /> {values[at]} {name}
              </span>
            ))}
          </>
        )}
      </p>
    </div>
  );
}

interface PlotUse {
  readonly props: StepChartProps;
  readonly host: { readonly current: HTMLDivElement | null };
  readonly plot: { current: uPlot | null };
  onCursor(index: number | null): void;
}

/** uPlot comes when the first chart does; a new theme, a new width and new data are told to it. */
function usePlot({ props, host, plot, onCursor }: PlotUse): void {
  const theme = useTheme();
  const { most, series, times, zone } = props;
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let isGone = false;
    let observer: ResizeObserver | undefined;
    void import("uplot").then(({ default: UPlot }) => {
      if (isGone) return;
      const colour = (name: string): string => colourOf(element, name);
      const stepped = UPlot.paths.stepped?.({ align: 1 });
      const options = chartOptions({ most, series, zone, colour, onCursor, stepped });
      const size = (): { width: number; height: number } => ({
        width: Math.max(1, element.clientWidth),
        height: 180,
      });
      const data = [times.map((time) => time / 1_000), ...series.map(({ values }) => [...values])];
      plot.current = new UPlot({ ...options, ...size() }, data as uPlot.AlignedData, element);
      observer = new ResizeObserver(() => plot.current?.setSize(size()));
      observer.observe(element);
    });
    return () => {
      isGone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [host, plot, onCursor, most, series, times, zone, theme]);
}
