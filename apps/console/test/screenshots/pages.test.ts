/**
 * `pnpm console:screenshots [FOLDER]`: every page as a picture, in both lights, narrow and wide: with the example's
 * fleet, with nothing there, and with what it shows when the server is gone.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settled, stage } from "../browser/kit.ts";
import { seed } from "./seed.ts";

const FOLDER = process.env["SCREENSHOTS"] ?? "screenshots";
const WIDTHS = [375, 1440] as const;
const SCHEMES = ["light", "dark"] as const;
/** A page that grows with its rows is cut here. */
const HEIGHT_MAX = 2_400;

const { world, open } = stage();
mkdirSync(FOLDER, { recursive: true });
let taken = 0;
let running = "";
beforeAll(async () => {
  running = await seed(world());
});
afterAll(() => process.stdout.write(`${taken} pictures in ${FOLDER}\n`));

interface View {
  readonly name: string;
  readonly path: () => string;
  /** Default: the operator of vision. */
  readonly token?: () => string | null;
}

const VIEWS: readonly View[] = [
  { name: "sign-in", path: () => "/", token: () => null },
  { name: "overview", path: () => "/" },
  { name: "pools", path: () => "/pools" },
  { name: "pool", path: () => `/pools/${world().pool("H100")}` },
  { name: "pool-owned", path: () => `/pools/${world().pool("H100")}?tenant=lab`, token: admin },
  { name: "book-fits", path: () => "/book?gpus=16&together=rack" },
  { name: "book-does-not-fit", path: () => "/book?gpus=64&together=rack" },
  { name: "reservations", path: () => "/reservations" },
  { name: "reservations-table", path: () => "/reservations?view=table&state=all" },
  { name: "fleet", path: () => "/fleet?tenant=lab", token: admin },
  { name: "activity", path: () => "/activity?tenant=lab", token: admin },
];
const SIGNED_IN = VIEWS.filter(({ name }) => name !== "sign-in");

function admin(): string {
  return world().adminToken;
}

async function take(page: Page, name: string): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const size = page.viewportSize();
  if (size) await page.setViewportSize({ ...size, height: Math.min(height, HEIGHT_MAX) });
  const picture = await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  expect(picture.length).toBeGreaterThan(1_000);
  taken += 1;
}

describe.each(SCHEMES)("%s", (scheme) => {
  describe.each(WIDTHS)("%s px", (width) => {
    it.each(VIEWS)("$name", async ({ name, path, token }) => {
      const options = token ? { token: token() } : {};
      const { page } = await open(path(), { width, scheme, ...options });
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      if (name !== "sign-in") await settled(page);
      await take(page, `${name}-${scheme}-${width}`);
    });

    it("a booking with its facts", async () => {
      const path = `/reservations?rsv=${running}`;
      const { page } = await open(path, { width, scheme });
      await settled(page);
      await page.getByRole("button", { name: /^Release/ }).waitFor();
      await take(page, `facts-${scheme}-${width}`);
    });

    it("nothing there yet", async () => {
      const tenantId = `empty-${scheme}-${width}`;
      await world().admin.fleet.putTenant({ tenantId, name: "A new team" });
      for (const { name, path } of SIGNED_IN) {
        if (name === "pool" || name === "pool-owned" || name === "book-does-not-fit") continue;
        const [address = "", query = ""] = path().split("?");
        const search = new URLSearchParams(query);
        search.set("tenant", tenantId);
        const { page } = await open(`${address}?${search}`, { token: admin(), width, scheme });
        await settled(page);
        await take(page, `${name}-empty-${scheme}-${width}`);
        await page.context().close();
      }
    });

    it("the server is gone", async () => {
      const { page } = await open("/", { width, scheme });
      await settled(page);
      await page.context().setOffline(true);
      for (const name of ["Pools", "Reservations", "Activity"]) {
        await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
        await page
          .getByRole("alert")
          .or(page.getByRole("status"))
          .filter({ hasNotText: "Live" })
          .first()
          .waitFor();
        await take(page, `${name.toLowerCase()}-gone-${scheme}-${width}`);
      }
    });
  });
});
