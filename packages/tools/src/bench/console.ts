/**
 * The web console, built, on a real server and in a real Chromium: what its first page weighs, and how calendar and map
 * take a pool of a thousand nodes with twenty bookings each.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { withBerth } from "@berth/client/testing";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import { largePool } from "./console-fleet.ts";
import { emptyFrames, firstLoad, framesAndSpent, opened, rest } from "./console-page.ts";
import type { View } from "./console-page.ts";
import { quantile } from "./figure.ts";
import type { Figure } from "./figure.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");
const CLI = path.join(ROOT, "apps/cli/bin/berth.js");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const NODES = 1_000;
const BOOKINGS_A_NODE = 20;
/** Nobody is turned away: what is measured is not the limit. */
const UNLIMITED = { BERTH_RATE_LIMIT: "1000000000", BERTH_ADDRESS_RATE_LIMIT: "1000000000" };

const FIRST_LOAD_KB = 250;
const INTERACTIVE_MS = 1_000;
const PAINT_MS = 500;
const FRAME_MS = 32;
const DOM_NODES = 1_500;

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const built = spawnSync(process.execPath, [path.join(ROOT, "apps/console/build.ts")], {
    stdio: "inherit",
  });
  if (built.status !== 0) throw new Error("the console cannot be built");
  await using server = await withBerth({ command: [process.execPath, CLI], env: UNLIMITED });
  const pool = await largePool(server, { nodes: quick ? 200 : NODES, bookings: BOOKINGS_A_NODE });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const { bytes, interactiveMs } = await firstLoad(browser, server.url, pool.token);
    const empty = quantile(await emptyFrames(browser), 0.95);
    return [
      figure("first-load", bytes / 1_000, { unit: "kB", must: FIRST_LOAD_KB }),
      figure("interactive", interactiveMs, { unit: "ms", must: INTERACTIVE_MS }),
      ...(await viewFigures(browser, "calendar", {
        empty,
        url: `${server.url}/reservations?pool=${pool.poolId}`,
        token: pool.token,
        box: `[role="group"][aria-label="Bookings by node"]`,
        item: `[role="group"][aria-label="Bookings by node"] button`,
      })),
      ...(await viewFigures(browser, "map", {
        empty,
        url: `${server.url}/pools/${pool.poolId}`,
        token: pool.token,
        box: `[role="grid"][aria-label="GPUs of the pool"]`,
        item: `[role="grid"][aria-label="GPUs of the pool"] [role="gridcell"]`,
      })),
    ];
  } finally {
    await browser.close();
  }
}

function figure(
  id: string,
  value: number,
  { unit, must }: { readonly unit: string; readonly must: number },
): Figure {
  return { id: `console/${id}`, value, unit, direction: "lower", must };
}

async function viewFigures(
  browser: Browser,
  name: string,
  { empty, ...view }: View & { readonly empty: number },
): Promise<Figure[]> {
  const { firstMs, page, paintMs, wholeMs } = await opened(browser, view);
  const { spent, taken } = await framesAndSpent(page, view.box);
  const frame = quantile(taken, 0.95);
  const rested = await rest(page);
  await page.context().close();
  return [
    { id: `console/${name}.first-nodes`, value: firstMs, unit: "ms", direction: "lower" },
    { id: `console/${name}.all-nodes`, value: wholeMs, unit: "ms", direction: "lower" },
    figure(`${name}.paint-after-data`, paintMs, { unit: "ms", must: PAINT_MS }),
    {
      ...figure(`${name}.frame.p95`, frame, { unit: "ms", must: FRAME_MS }),
      // What the machine gives a page with nothing on it: the rest of a frame is ours.
      yardstick: { id: "empty page", value: empty, unit: "ms" },
      ratio: frame / empty,
    },
    // Where the frame goes: what a missed one is explained by.
    ...Object.entries(spent).map(([part, value]): Figure => {
      return { id: `console/${name}.frame.${part}`, value, unit: "ms", direction: "lower" };
    }),
    // Bars of lanes come a moment after the lanes do: how long after a fling all is there.
    { id: `console/${name}.at-rest`, value: rested.ms, unit: "ms", direction: "lower" },
    figure(`${name}.dom`, rested.elements, { unit: "nodes", must: DOM_NODES }),
  ];
}
