/** A real server with the example's fleet, and pages of a real Chromium on it, used as a person uses them. */
import { fileURLToPath } from "node:url";
import { AxeBuilder } from "@axe-core/playwright";
import { createBerth } from "@berth/client";
import type { Berth } from "@berth/client";
import { withBerth } from "@berth/client/testing";
import type { TestBerth } from "@berth/client/testing";
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

export const CLI = fileURLToPath(new URL("../../../cli/bin/berth.js", import.meta.url));
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const ZONE = "Europe/Berlin";
/** What a page may take to show what it was asked for. */
const SOON_MS = 15_000;

export interface World {
  readonly url: string;
  readonly admin: Berth;
  readonly adminToken: string;
  /** The operator's token of a tenant of the example. */
  token(tenantId?: string): string;
  /** A client with that token. */
  as(tenantId?: string): Berth;
  /** The pool of this GPU model. */
  pool(model: string): string;
}

export interface PageOptions {
  /** Null = nobody is signed in. Default: the operator of vision. */
  readonly token?: string | null;
  readonly width?: number;
  readonly scheme?: "light" | "dark";
}

export interface OpenPage {
  readonly page: Page;
  /** What the page complained of: errors, and what its policy refused. */
  readonly complaints: readonly string[];
}

/** Both for a file of tests; they are stopped after it. */
export interface Stage {
  readonly world: () => World;
  open(path: string, options?: PageOptions): Promise<OpenPage>;
}

export function stage(): Stage {
  let server: TestBerth;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      withBerth({ command: [process.execPath, CLI], fleet: "demo" }),
      launch(),
    ]);
  });
  // A page that is left open holds a stream, and a caller has only so many.
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  const world = (): World => worldOf(server);
  return {
    world,
    open: (path, options = {}) => {
      const { token = world().token() } = options;
      return openPage(browser, world().url + path, { ...options, token });
    },
  };
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

function worldOf({ url, token: adminToken, fleet }: TestBerth): World {
  const token = (tenantId = "vision"): string => fleet?.tenants[tenantId] ?? missing(tenantId);
  return {
    url,
    adminToken,
    admin: createBerth({ url, token: adminToken }),
    token,
    as: (tenantId) => createBerth({ url, token: token(tenantId) }),
    pool: (model) =>
      fleet?.pools.find(({ gpuModel }) => gpuModel.includes(model))?.poolId ?? missing(model),
  };
}

function missing(name: string): never {
  throw new Error(`the example has no ${name}`);
}

/** A page in a context of its own: another person's browser. */
export async function openPage(
  browser: Browser,
  url: string,
  { token, width = 1440, scheme = "light" }: PageOptions,
): Promise<OpenPage> {
  const options: BrowserContextOptions = {
    viewport: { width, height: 900 },
    colorScheme: scheme,
    timezoneId: ZONE,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  };
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(SOON_MS);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  await page.exposeFunction("complain", (text: string) => complaints.push(text));
  await page.addInitScript((key) => {
    if (key !== null && sessionStorage.getItem("berth.credentials") === null)
      sessionStorage.setItem("berth.credentials", JSON.stringify({ kind: "key", token: key }));
    const { complain } = globalThis as unknown as { complain(text: string): void };
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      complain(`policy: ${violatedDirective} ${blockedURI}`),
    );
  }, token ?? null);
  await page.goto(url);
  return { page, complaints };
}

/** Waits until everything on the page is there and the stream is open. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("status").getByText("Live").first().waitFor({ state: "attached" });
  await expect
    .poll(() => page.getByRole("status", { name: /^Loading/ }).count(), { timeout: SOON_MS })
    .toBe(0);
}

/** A person whose presses and changes are counted. */
export interface Person {
  readonly clicks: () => number;
  readonly fields: () => number;
  click(target: Locator): Promise<void>;
  fill(target: Locator, text: string): Promise<void>;
  select(target: Locator, choice: string): Promise<void>;
  choose(target: Locator): Promise<void>;
}

export function person(): Person {
  let clicks = 0;
  let fields = 0;
  return {
    clicks: () => clicks,
    fields: () => fields,
    async click(target) {
      clicks += 1;
      await target.click();
    },
    async fill(target, text) {
      fields += 1;
      await target.fill(text);
    },
    async select(target, choice) {
      fields += 1;
      await target.selectOption({ label: choice });
    },
    async choose(target) {
      fields += 1;
      await target.check();
    },
  };
}

/** What axe finds that keeps somebody from using the page. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
}

/** How far the page is wider than the screen, px. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
}
