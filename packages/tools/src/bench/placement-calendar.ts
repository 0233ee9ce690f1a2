/** Part B: bookings ahead of time, decided one by one as they are asked for, never moved. */
import type { Figure } from "./figure.ts";
import { bookShared } from "./placement-mixed.ts";
import { bookAll, checkApart, replay } from "./placement-philly.ts";
import { mean } from "./placement-trace.ts";
import type { CalendarRequest, Trace } from "./placement-trace.ts";

const PHILLY = [
  { list: "philly_vc1", nodes: 15 },
  { list: "philly_vc1", nodes: 22 },
  { list: "philly_vc3", nodes: 8 },
] as const;
const MIXED = { nodes: 3, gpus: 8, cpu: 96_000 } as const;
const REFERENCES = ["FirstFit", "BestFit", "GapFit", "TimeFgd", "Pooled"] as const;
type Points = Readonly<Record<(typeof REFERENCES)[number], number>>;

const SALTS = 10;
/** Points by which the better of FirstFit and BestFit may be better, and BestFit on shared cards. */
const ALLOWED = 0.25;
const ALLOWED_MIXED = 0.5;
const OF_POOLED = 0.965;

/** Copies of a list, shifted, and pressed together so that this share of a pool of openb's size is asked for. */
const SCALE = { list: "philly_vc1", nodes: 1_213, requests: 21_784, load: 0.58 } as const;
const SCALE_MUST = 500;

export function calendarFigures(trace: Trace, quick: boolean): Figure[] {
  const salts = Array.from({ length: quick ? 1 : SALTS }, (_, salt) => salt);
  const philly = PHILLY.flatMap(({ list, nodes }) => {
    const requests = trace.calendar.loadRequests(trace.file("calendar", `${list}.csv`));
    const spec = Array.from({ length: nodes }, () => ({ gpus: 8, cpu: 0 }));
    const points = references(trace, { requests, spec }, salts);
    const ours = salts.map((salt) => {
      const salted = trace.calendar.resalt(requests, salt);
      return replay(salted, nodes, bookAll(salted, nodes, []));
    });
    const least = Math.max(
      Math.max(points.FirstFit, points.BestFit) - ALLOWED,
      OF_POOLED * points.Pooled,
    );
    return listFigures(`calendar/${list} ${nodes}x8`, mean(ours), { points, least, quick });
  });
  return [...philly, ...mixedFigures(trace, salts, quick), scaleFigure(trace, quick)];
}

function mixedFigures(trace: Trace, salts: readonly number[], quick: boolean): Figure[] {
  const requests = trace.calendar.loadRequests(trace.file("calendar", "openb_mixed.csv"));
  const { nodes, gpus, cpu } = MIXED;
  const spec = Array.from({ length: nodes }, () => ({ gpus, cpu }));
  const points = references(trace, { requests, spec }, salts);
  const ours = salts.map((salt) => bookShared(trace.calendar.resalt(requests, salt), MIXED));
  const least = points.BestFit - ALLOWED_MIXED;
  return listFigures("calendar/openb_mixed 3x8", mean(ours), { points, least, quick });
}

function references(
  { calendar }: Trace,
  about: {
    readonly requests: readonly CalendarRequest[];
    readonly spec: readonly { gpus: number; cpu: number }[];
  },
  salts: readonly number[],
): Points {
  const points = REFERENCES.map((policy) => {
    const runs = salts.map((salt) => {
      const salted = calendar.resalt(about.requests, salt);
      return calendar.simulate(salted, about.spec, policy, { seed: 1 + salt }).gpuTimePct;
    });
    return [policy, mean(runs)] as const;
  });
  return Object.fromEntries(points) as unknown as Points;
}

function listFigures(
  id: string,
  value: number,
  about: { readonly points: Points; readonly least: number; readonly quick: boolean },
): Figure[] {
  const { points, least, quick } = about;
  return REFERENCES.map((policy): Figure => {
    const yardstick = { id: policy, value: points[policy], unit: "%" };
    const ratio = value / points[policy];
    const figure = { value, unit: "%", direction: "higher", yardstick, ratio } as const;
    if (policy !== "FirstFit" || quick) return { ...figure, id: `${id} to ${policy}` };
    return { ...figure, id: `${id} to ${policy}`, must: least, aim: points.TimeFgd };
  });
}

function scaleFigure(trace: Trace, quick: boolean): Figure {
  const times: number[] = [];
  const requests = scaled(trace, quick ? 3_000 : SCALE.requests);
  const decisions = bookAll(requests, SCALE.nodes, times);
  checkApart(requests, decisions);
  const value = 1_000 / mean(times);
  const limit = quick ? {} : { must: SCALE_MUST };
  return { id: "calendar/decisions", value, unit: "/s", direction: "higher", ...limit };
}

function scaled(trace: Trace, count: number): CalendarRequest[] {
  const all = trace.calendar.loadRequests(trace.file("calendar", `${SCALE.list}.csv`));
  const copies = SCALE.requests / all.length;
  const span = Math.max(...all.map(({ submit }) => submit)) + 1;
  const work = copies * all.reduce((sum, { gpus, dur }) => sum + gpus * dur, 0);
  const pressed = work / (SCALE.load * SCALE.nodes * 8) / span;
  return Array.from({ length: SCALE.requests }, (_, i) => {
    const request = all[i % all.length] as CalendarRequest;
    const copy = Math.floor(i / all.length);
    const submit = Math.floor(((request.submit + (copy * span) / copies) % span) * pressed);
    return { ...request, id: `${request.id}x${copy}`, submit };
  })
    .sort((a, b) => a.submit - b.submit || (a.id < b.id ? -1 : 1))
    .slice(0, count);
}
