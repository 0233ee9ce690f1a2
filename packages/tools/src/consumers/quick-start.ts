/** The quick start of the package's README, typed as a newcomer would: nothing is put in but what the README says. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createBerth } from "@berth/client";
import { CLIENT, NPM_FLAGS, command, demand } from "../pack/command.ts";
import { nodes } from "./programs.ts";
import { type Consumer, type Stage, lineOf } from "./stage.ts";

export interface Step {
  readonly what: string;
  readonly ms: number;
}

export interface Typed {
  readonly steps: readonly Step[];
  /** What the program printed. */
  readonly line: string;
  /** The Node that ran it. */
  readonly node: string;
}

/** From an empty folder to a booked GPU. */
export async function typeQuickStart(stage: Stage): Promise<Typed> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-newcomer-"));
  const steps: Step[] = [];
  const step = async <T>(what: string, doing: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const done = await doing();
    steps.push({ what, ms: performance.now() - started });
    return done;
  };
  try {
    // The one that a newcomer types, which may be the oldest.
    const node = (await nodes()).at(-1);
    if (!node) throw new Error("there is no Node that the package is for");
    await step("npm init", () => command(folder, "npm", ["init", "--yes"]));
    await step("npm install", () =>
      command(folder, "npm", ["install", ...NPM_FLAGS, "--prefer-offline", stage.tarball]),
    );
    await writeFile(path.join(folder, "book.mjs"), await block());
    const line = await step("node book.mjs", () =>
      lineOf(stage, { folder }, [node.file, "book.mjs"]),
    );
    await expectBooked(stage, line);
    return { steps, line, node: node.version };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function block(): Promise<string> {
  const readme = await readFile(path.join(CLIENT, "README.md"), "utf8");
  const [, code] = /^## Quick start$[^]*?^```ts\n([^]*?)^```$/m.exec(readme) ?? [];
  if (code === undefined) throw new Error("the README has no quick start");
  return code;
}

/** There as it was printed; and given back, so that it may be typed again. */
async function expectBooked({ url, token }: Stage, line: string): Promise<void> {
  const [, reservationId = "", nodeName = ""] = /^(rsv_\w+): 1 GPU on (.+)$/.exec(line) ?? [];
  const berth = createBerth({ url, token });
  const { tenantId } = await berth.access.whoami();
  const { state, members } = await berth.reservations.get({ tenantId, reservationId });
  demand(
    state === "active" && members?.[0]?.nodeName === nodeName,
    `it is ${state}, not as ${line}`,
  );
  await berth.reservations.release({ tenantId, reservationId });
}

export const QUICK_START: Consumer = {
  name: "Quick start",
  async run(stage) {
    const { steps, node } = await typeQuickStart(stage);
    const ms = steps.reduce((sum, step) => sum + step.ms, 0);
    const ran = `the README's, from an empty folder to a booked GPU in ${(ms / 1_000).toFixed(1)} s`;
    return { versions: `node ${node}`, ran };
  },
};
