/**
 * `pnpm console:shots [FOLDER]`: a picture of every page of the console on the example's fleet, light and dark, wide and
 * narrow, full, empty and failing. For people to look at: nothing is compared. With `--documented` the four that README
 * and docs show are taken instead, into their folder there.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { createBerth } from "@berth/client";
import { withBerth } from "@berth/client/testing";
import type { TestBerth } from "@berth/client/testing";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { documented: { type: "boolean", default: false } },
});
const USUAL = values.documented ? "apps/docs/pictures" : "apps/console/shots";
const FOLDER = path.resolve(positionals[0] ?? path.join(ROOT, USUAL));
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const THEMES = ["light", "dark"] as const;
const WIDTHS = [1_440, 375] as const;
const STATES = ["full", "empty", "failing"] as const;
const WAIT_MS = 60_000;

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly state: (typeof STATES)[number];
  readonly theme: (typeof THEMES)[number];
  /** Pixels. */
  readonly width: number;
  /** The heading that is scrolled to; absent: the page's top. */
  readonly from?: string;
}

function* shots(pages: Readonly<Record<string, string>>): Generator<Shot> {
  for (const [name, at] of Object.entries(pages))
    for (const state of STATES)
      for (const theme of THEMES)
        for (const width of WIDTHS) yield { name, path: at, state, theme, width };
}

/** As the pages show them: narrower, so that text can be read there. */
function documented(pages: Readonly<Record<string, string>>): Shot[] {
  const full = { state: "full", width: 1_200, theme: "light" } as const;
  return [
    { ...full, name: "overview", path: pages["overview"] ?? "" },
    { ...full, name: "book", path: pages["book-not"] ?? "" },
    { ...full, name: "calendar", path: pages["calendar"] ?? "" },
    { ...full, name: "map", path: pages["pool"] ?? "", theme: "dark", from: "Nodes" },
  ];
}

/** Bookings of today and of next week, and some that do not fit: a calendar with something on it. */
async function bookSome({ url, fleet }: TestBerth): Promise<void> {
  for (const [tenantId, token] of Object.entries(fleet?.tenants ?? {})) {
    const berth = createBerth({ url, token });
    for (const [index, { poolId }] of (fleet?.pools ?? []).entries())
      for (let day = 0; day < 6; day += 1)
        await berth.reservations
          .create({
            tenantId,
            poolId,
            devices: [{ class: "gpu", count: 1 + ((index + day) % 4) }],
            start: Date.now() + day * 20 * 3_600_000 + 1_000,
            duration: `${6 + day * 4}h`,
          })
          // Some do not fit: that is part of the picture.
          .safe();
  }
}

async function take(browser: Browser, server: TestBerth, shot: Shot): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: shot.width, height: 900 },
    colorScheme: shot.theme,
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  // The operator's own tenant owns nothing; the example's machines are the lab's.
  const isOwner = shot.path.startsWith("/fleet") || shot.path.startsWith("/activity");
  const token = shot.state === "empty" || isOwner ? server.token : server.fleet?.tenants["vision"];
  const credentials = JSON.stringify(JSON.stringify({ kind: "key", token }));
  await page.addInitScript(`sessionStorage.setItem("berth.credentials", ${credentials})`);
  if (shot.state === "failing")
    await page.route(/\/trpc\/(?!access\.whoami|reservations\.watch)/, (route) => route.abort());
  const tenant = isOwner && shot.state !== "empty" ? "tenant=lab" : "";
  await page.goto(`${server.url}${shot.path}${shot.path.includes("?") ? "&" : "?"}${tenant}`);
  await page.getByRole("heading", { level: 1 }).waitFor({ timeout: WAIT_MS });
  const loading = page.getByRole("status", { name: /^Loading/ });
  for (const each of await loading.all())
    await each.waitFor({ state: "detached", timeout: WAIT_MS });
  if (shot.from !== undefined) {
    const part = page.getByRole("region", { name: shot.from });
    await part.evaluate((element: { scrollIntoView(): void }) => element.scrollIntoView());
  }
  const which = values.documented ? "" : `-${shot.state}-${shot.theme}-${shot.width}`;
  const file = `${shot.name}${which}.png`;
  await page.screenshot({ path: path.join(FOLDER, file), fullPage: shot.width === 375 });
  await context.close();
}

const built = spawnSync(process.execPath, [path.join(ROOT, "apps/console/build.ts")]);
if (built.status !== 0) throw new Error(`the console cannot be built: ${String(built.stderr)}`);
mkdirSync(FOLDER, { recursive: true });
const command = [process.execPath, path.join(ROOT, "apps/cli/bin/berth.js")];
await using server = await withBerth({ command, fleet: "demo" });
await bookSome(server);
const [large] = server.fleet?.pools ?? [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
let taken = 0;
try {
  const pages = {
    overview: "/",
    pools: "/pools",
    pool: `/pools/${large?.poolId}`,
    book: `/book?pool=${large?.poolId}&gpus=16&together=rack`,
    "book-not": `/book?pool=${large?.poolId}&gpus=64&together=rack&for=7d`,
    calendar: "/reservations",
    table: "/reservations?view=table",
    fleet: "/fleet",
    activity: "/activity",
  };
  for (const shot of values.documented ? documented(pages) : shots(pages)) {
    await take(browser, server, shot);
    taken += 1;
  }
} finally {
  await browser.close();
}
console.log(`${taken} pictures in ${FOLDER}`);
