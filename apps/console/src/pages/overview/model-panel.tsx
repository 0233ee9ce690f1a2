/** Whole GPUs by model, over all pools. */
import type { ModelTotals } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { UNBOOKED } from "../../format/free.ts";
import { modelText, number } from "../../format/gpus.ts";
import { Bar } from "../../ui/bar.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { partsOf, splitOf } from "./counts.ts";
import styles from "./overview.module.css";

export function ModelPanel({
  byModel,
}: {
  readonly byModel: Readonly<Record<string, ModelTotals>>;
}): ReactNode {
  const models = Object.entries(byModel).toSorted(([, a], [, b]) => b.total - a.total);
  return (
    <Panel title="By GPU model" flush>
      {models.length === 0 ? (
        <Empty title="No whole GPUs">The pools have none, or they are all shared out.</Empty>
      ) : (
        <ul className={styles.rows}>
          {models.map(([model, totals]) => (
            <li key={model} className={styles.model}>
              <div>
                <Link
                  to="/pools"
                  search={({ tenant }) => ({
                    ...(tenant === undefined ? {} : { tenant }),
                    model,
                  })}
                  title={model}
                >
                  {modelText(model)}
                </Link>
                <span>
                  {number(totals.available)} {UNBOOKED}, of {number(totals.total)}
                </span>
              </div>
              <Bar label={modelText(model)} parts={partsOf(splitOf(totals))} thin />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
