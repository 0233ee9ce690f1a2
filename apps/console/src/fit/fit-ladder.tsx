/** What fits now and when the rest will: counts by closeness. A cell leads to the booking form, filled in with it. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../app/now.ts";
import { useZone } from "../app/zone.tsx";
import { gpusText } from "../format/gpus.ts";
import { timeText, utcText } from "../format/time.ts";
import { cx } from "../ui/cx.ts";
import { Segmented } from "../ui/field.tsx";
import { Panel } from "../ui/page.tsx";
import { Loaded } from "../ui/states.tsx";
import styles from "./fit-ladder.module.css";
import { COUNTS, PLACES, PLACE_NAMES, verdictOf } from "./ladder.ts";
import type { Verdict } from "./ladder.ts";
import { useLadder } from "./use-ladder.ts";
import type { LadderAsk, Rung } from "./use-ladder.ts";

/** How long it is to be for. */
export const LADDER_DURATIONS = ["1h", "8h", "1d", "7d"] as const;
export type LadderDuration = (typeof LADDER_DURATIONS)[number];

const DURATION_NAMES: Readonly<Record<LadderDuration, string>> = {
  "1h": "1 h",
  "8h": "8 h",
  "1d": "1 d",
  "7d": "7 d",
};

export interface FitLadderProps extends Omit<LadderAsk, "duration"> {
  readonly duration: LadderDuration;
  readonly onDuration: (duration: LadderDuration) => void;
  /** Other choices beside the length, such as the pool. */
  readonly actions?: ReactNode;
}

export function FitLadder({
  poolId,
  perNode,
  duration,
  onDuration,
  actions,
}: FitLadderProps): ReactNode {
  const query = useLadder({ poolId, perNode, duration });
  return (
    <Panel
      title="What fits"
      lead="Now, or the first time it will; a cell fills in the booking form"
      actions={
        <>
          {actions}
          <Segmented
            label="For how long"
            bare
            value={duration}
            choices={LADDER_DURATIONS.map((value) => ({ value, name: DURATION_NAMES[value] }))}
            onChange={onDuration}
          />
        </>
      }
    >
      <Loaded query={query} what="what fits" lines={4}>
        {(rungs) => (
          <Ladder
            rungs={rungs}
            poolId={poolId}
            duration={duration}
            isPending={query.isPlaceholderData}
          />
        )}
      </Loaded>
    </Panel>
  );
}

interface LadderProps {
  readonly rungs: readonly Rung[];
  readonly poolId: string;
  readonly duration: string;
  /** The answers are to another length or pool: none of them stands. */
  readonly isPending: boolean;
}

function Ladder({ rungs, ...where }: LadderProps): ReactNode {
  return (
    <div className={styles.wrap}>
      <table className={styles.table}>
        <caption className="visually-hidden">
          What fits for {where.duration}, by GPUs and by how close they are
        </caption>
        <thead>
          <tr>
            <th scope="col">Kept on</th>
            {COUNTS.map((count) => (
              <th key={count} scope="col">
                {gpusText(count)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {PLACES.map((place) => (
            <tr key={place}>
              <th scope="row">{PLACE_NAMES[place]}</th>
              {COUNTS.map((count) => {
                const rung = rungs.find(({ step }) => step.count === count && step.place === place);
                return (
                  <td key={count}>{rung === undefined ? null : <Cell rung={rung} {...where} />}</td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps extends Omit<LadderProps, "rungs"> {
  readonly rung: Rung;
}

function Cell({ rung: { step, answer }, poolId, duration, isPending }: CellProps): ReactNode {
  const { zone } = useZone();
  const now = useNow(60_000);
  const verdict: Verdict | Asking = isPending ? { kind: "asking" } : verdictIn(answer);
  const [text, more] = sayVerdict(verdict, zone, now);
  const title = [step.words, more].filter(Boolean).join(". ");
  const className = cx(styles.cell, styles[verdict.kind]);
  if (verdict.kind === "none")
    return (
      <span className={className} title={title}>
        <span aria-hidden="true">–</span>
        <span className="visually-hidden">{step.words}</span>
      </span>
    );
  const start = verdict.kind === "later" ? { start: verdict.at } : {};
  return (
    <Link
      to="/book"
      search={({ tenant }) => ({
        ...(tenant === undefined ? {} : { tenant }),
        pool: poolId,
        gpus: step.count,
        together: step.place,
        for: duration,
        ...start,
      })}
      className={className}
      title={title}
      data-verdict={verdict.kind}
      aria-label={`${gpusText(step.count)}, ${PLACE_NAMES[step.place].toLowerCase()}: ${text}`}
    >
      {text}
    </Link>
  );
}

/** What was asked for is being asked. */
interface Asking {
  readonly kind: "asking";
}

function verdictIn(answer: Rung["answer"]): Verdict {
  return answer === null ? { kind: "none" } : verdictOf(answer);
}

/** The word in the cell, and the rest for its title. */
function sayVerdict(
  verdict: Verdict | Asking,
  zone: string,
  now: number,
): readonly [string, string] {
  switch (verdict.kind) {
    case "asking":
      return ["…", "Being tried"];
    case "now":
      return ["✓ now", ""];
    case "later":
      return [timeText(verdict.at, zone, { now }), utcText(verdict.at)];
    case "preempts":
      return [
        "~ now",
        `${verdict.count} spot booking${verdict.count === 1 ? "" : "s"} would get notice; it starts ${timeText(verdict.at, zone, { now })}`,
      ];
    case "quota":
      return ["over quota", verdict.words];
    case "never":
      return [
        `no room by ${timeText(verdict.searchedTo, zone, { style: "day", now })}`,
        `No start up to ${timeText(verdict.searchedTo, zone, { now })} has room for it. ${verdict.words}`,
      ];
    case "none":
      return ["–", ""];
  }
}

/** The length of a word of the address, where it is one of ours. */
export function ladderDuration(text: string | undefined): LadderDuration {
  return LADDER_DURATIONS.find((each) => each === text) ?? "1h";
}
