/** `BERTH_FAILPOINT`: where this process breaks, and how. For tests; nothing of it is there when it is not set. */
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { FAILPOINTS, type Failpoint, type FailpointName } from "@berth/db";
import { ConfigError, FAILPOINT_RULE } from "./config.ts";

type Action =
  | { readonly kind: "kill" | "stop" | "throw" }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "pause"; readonly file: string };

interface Rule {
  readonly name: FailpointName;
  readonly action: Action;
  /** At which passing, from 1; null = at each. */
  readonly nth: number | null;
}

const PAUSE_LOOK_MS = 10;

/** What a point throws that is told to. */
export class FailpointError extends Error {
  override readonly name = "FailpointError";
}

/**
 * The rules of BERTH_FAILPOINT, which has their form already.
 * @throws ConfigError for a point that there is not
 */
function parse(text: string): Rule[] {
  return text.split(",").map((rule) => {
    const { point, sudden, ms, file, nth } = FAILPOINT_RULE.exec(rule)?.groups ?? {};
    const name = FAILPOINTS.find((known) => known === point);
    if (name === undefined)
      throw new ConfigError(`BERTH_FAILPOINT must name points of ${FAILPOINTS.join(", ")}`);
    const action = actionOf({ sudden, ms, file });
    return { name, action, nth: nth === undefined ? null : Number(nth) };
  });
}

type Written = Readonly<Record<"sudden" | "ms" | "file", string | undefined>>;

function actionOf({ sudden, ms, file }: Written): Action {
  if (ms !== undefined) return { kind: "delay", ms: Number(ms) };
  if (file !== undefined) return { kind: "pause", file };
  return { kind: sudden as "kill" | "stop" | "throw" };
}

/**
 * Undefined when nothing is set, so that nothing is called.
 * @throws ConfigError for a point that there is not
 */
export function createFailpoint(text: string | null): Failpoint | undefined {
  if (text === null) return undefined;
  const rules = parse(text);
  const passed = new Map<FailpointName, number>();
  return async (name) => {
    const times = (passed.get(name) ?? 0) + 1;
    passed.set(name, times);
    for (const rule of rules)
      if (rule.name === name && (rule.nth === null || rule.nth === times)) await act(rule);
  };
}

async function act({ name, action }: Rule): Promise<void> {
  switch (action.kind) {
    case "kill":
    case "stop":
      process.kill(process.pid, action.kind === "kill" ? "SIGKILL" : "SIGSTOP");
      return;
    case "throw":
      throw new FailpointError(`the failpoint ${name} throws`);
    case "delay":
      await delay(action.ms);
      return;
    case "pause":
      // The file says that the point is reached; who removes it lets the process go on.
      writeFileSync(action.file, name);
      while (existsSync(action.file)) await delay(PAUSE_LOOK_MS);
  }
}
