/** What is measured of one page in a browser. */
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";

export interface View {
  readonly url: string;
  readonly token: string;
  /** Selects what scrolls, or something inside of it. */
  readonly box: string;
  /** Selects the first thing that a person waits for. */
  readonly item: string;
}

const IN_PAGE = fileURLToPath(new URL("in-page.js", import.meta.url));
const SCROLLS = 60;
const SCROLL_PX = 200;
const WAIT_MS = 120_000;

async function signedIn(browser: Browser, token: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const credentials = JSON.stringify(JSON.stringify({ kind: "key", token }));
  await page.addInitScript(`sessionStorage.setItem("berth.credentials", ${credentials})`);
  return page;
}

export interface FirstLoad {
  /** Of the first page and all that it loads of itself, as gzip has them. */
  readonly bytes: number;
  /** From the address to a page whose links can be used. */
  readonly interactiveMs: number;
}

export async function firstLoad(browser: Browser, url: string, token: string): Promise<FirstLoad> {
  const page = await signedIn(browser, token);
  const loaded = new Set<string>();
  page.on("response", (response) => {
    if (["document", "script", "stylesheet"].includes(response.request().resourceType()))
      loaded.add(response.url());
  });
  const since = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("link", { name: "Pools", exact: true }).click({ trial: true });
  const interactiveMs = performance.now() - since;
  await page.context().close();
  const sizes = [...loaded].map(async (file) => {
    // A browser takes it smaller still, by brotli; the figure is gzip's, to be compared with others'.
    const { headers } = await fetch(file, { headers: { "accept-encoding": "gzip" } });
    const length = Number(headers.get("content-length"));
    if (headers.get("content-encoding") !== "gzip" || !(length > 0))
      throw new Error(`${file} does not come packed`);
    return length;
  });
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return { bytes, interactiveMs };
}

export interface Opened {
  readonly page: Page;
  /** From the first nodes that come to the frame that shows the first of them. */
  readonly paintMs: number;
  /** From the page's start to those first nodes. */
  readonly firstMs: number;
  /** From the page's start to the last byte of all nodes. */
  readonly wholeMs: number;
}

/** Opens a page and waits for its first item, and then until nothing is read any more. */
export async function opened(browser: Browser, { url, token, item }: View): Promise<Opened> {
  const page = await signedIn(browser, token);
  await page.addInitScript({ path: IN_PAGE });
  await page.addInitScript(`berthBench.watch(${JSON.stringify(item)})`);
  await page.goto(url);
  const { first, shown, whole } =
    await page.evaluate<Record<"first" | "shown" | "whole", number>>("berthBench.times()");
  return { page, paintMs: shown - first, firstMs: first, wholeMs: whole };
}

/** What the page's main thread did in a frame, ms on average. */
const PARTS = {
  script: "ScriptDuration",
  style: "RecalcStyleDuration",
  layout: "LayoutDuration",
  all: "TaskDuration",
} as const;
export type Spent = Readonly<Record<keyof typeof PARTS, number>>;

/** Frames of a scroll as `frames`, with what was spent in one by the browser's own counters. */
export async function framesAndSpent(
  page: Page,
  box: string,
): Promise<{ readonly taken: number[]; readonly spent: Spent }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const look = async (): Promise<ReadonlyMap<string, number>> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await look();
  const taken = await frames(page, box);
  const after = await look();
  const each = Object.entries(PARTS).map(([part, name]) => {
    const seconds = (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN);
    return [part, (seconds * 1_000) / taken.length];
  });
  return { taken, spent: Object.fromEntries(each) as Spent };
}

/** How long each frame of a scroll took, ms. */
export function frames(page: Page, box: string): Promise<number[]> {
  return page.evaluate<number[]>(
    `berthBench.frames(${JSON.stringify(box)}, ${SCROLLS}, ${SCROLL_PX})`,
  );
}

/** Frames of a page that is tall and empty. */
export async function emptyFrames(browser: Browser): Promise<number[]> {
  const page = await browser.newPage();
  await page.addInitScript({ path: IN_PAGE });
  await page.goto("about:blank");
  await page.setContent(`<main style="height:100000px"><p>nothing</p></main>`);
  const taken = await frames(page, "p");
  await page.close();
  return taken;
}

/** Elements of the page once a scroll has come to rest, and how long after its last frame that was, ms. */
export function rest(page: Page): Promise<{ readonly elements: number; readonly ms: number }> {
  return page.evaluate("berthBench.rest()");
}
