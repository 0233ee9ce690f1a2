/** What changes elsewhere shows by itself, over lost connections and restarts of the server. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBerth, gpus } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, openPage, settled, stage } from "./kit.ts";

const MAIN = fileURLToPath(new URL("../../../server/src/main.ts", import.meta.url));
const ADMIN_KEY = "test-admin-key-0123456789abcdefghijklmnop";

describe("two browsers side by side", () => {
  const { world, open } = stage();

  it("a booking that is made in one shows in the other within a second", async () => {
    const pool = world().pool("L40S");
    const [one, other] = await Promise.all([
      open(`/book?pool=${pool}&gpus=2&for=2h`),
      open(`/reservations?view=table&pool=${pool}`),
    ]);
    await Promise.all([settled(one.page), settled(other.page)]);
    const rows = other.page.getByRole("row");
    const taken: number[] = [];
    while (taken.length < 3) {
      const before = await rows.count();
      await one.page.goto(`${world().url}/book?pool=${pool}&gpus=2&for=2h`);
      const answered = one.page.waitForResponse(/reservations\.create/);
      await one.page.getByRole("button", { name: "Book 2 GPUs, now" }).click();
      await answered;
      const since = performance.now();
      await rows.nth(before).waitFor();
      taken.push(performance.now() - since);
    }
    // The machine that runs the tests does more than this: the best of three is the console's own time.
    expect(Math.min(...taken)).toBeLessThan(1_000);
  });

  it("every cell of the fit ladder is what a quote answers, and follows a booking within a second", async () => {
    const poolId = world().pool("A100");
    const berth = world().as();
    const common = { tenantId: "vision", poolId, duration: "1h" };
    const verdict = async (count: number, together: string): Promise<string> => {
      const { preview, quota } = await berth.reservations.quote({
        ...common,
        ...gpus(count, { together }),
      });
      if (!quota.ok) return "quota";
      if (preview.fits) return "now";
      if (preview.preemptible) return "preempts";
      return preview.earliestStart === null ? "never" : "later";
    };
    const { page } = await open(`/?pool=${poolId}`);
    await settled(page);
    const cell = (count: number, place: string) =>
      page.getByRole("link", { name: new RegExp(`^${count} GPUs?, ${place}:`) });
    const cells = [
      ...[1, 8].map((count) => [count, "one node", "node"] as const),
      ...[1, 8].map((count) => [count, "one NVLink domain", "nvlink"] as const),
      ...[1, 8, 16, 32, 64].map((count) => [count, "one rack", "rack"] as const),
    ];
    for (const [count, place, together] of cells)
      expect(
        await cell(count, place.toLowerCase()).getAttribute("data-verdict"),
        `${count} on ${place}`,
      ).toBe(await verdict(count, together));
    expect(await page.getByRole("cell").getByRole("link").count()).toBe(cells.length);

    expect(await verdict(8, "node")).toBe("now");
    while ((await verdict(8, "node")) === "now")
      await berth.reservations.create({ ...common, ...gpus(8) });
    const since = performance.now();
    await page
      .locator(`a[data-verdict=${await verdict(8, "node")}]`)
      .and(cell(8, "one node"))
      .waitFor();
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it("out of sight, the browser itself tells of a booking that is about to end", async () => {
    const { page } = await open("/");
    await settled(page);
    await page.context().grantPermissions(["notifications"]);
    await page.evaluate(() => {
      const told: string[] = [];
      const known = window.Notification;
      window.Notification = class extends known {
        constructor(title: string, options?: NotificationOptions) {
          super(title, options);
          told.push(`${title}: ${options?.body}`);
        }
      };
      Object.assign(globalThis, { told });
      // Another tab is before this one; a browser without a screen has no other way to say so.
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    });
    // Its end is told of when a tenth of it is left.
    const booked = await world()
      .as()
      .reservations.create({
        tenantId: "vision",
        poolId: world().pool("H100"),
        devices: [{ class: "gpu", count: 1 }],
        duration: "10s",
      });
    const told = (): Promise<string[]> =>
      page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
    await expect.poll(told, { timeout: 30_000 }).toHaveLength(1);
    const [text] = await told();
    expect(text).toMatch(/^A booking ends soon: It ends .* CET\. /);
    expect(text).toContain(booked.id);
    // Whoever comes back sees it on the page as well, and is led to it.
    await page.getByText("A booking ends soon").waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  });
});

describe("a server that is killed and comes back", () => {
  let folder: string;
  let port: number;
  let server: ChildProcess;

  const start = async (): Promise<void> => {
    server = spawn(process.execPath, [MAIN, "serve"], {
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        BERTH_DATA_DIR: folder,
        BERTH_BOOTSTRAP_TOKEN: ADMIN_KEY,
        PORT: String(port),
        LOG_LEVEL: "silent",
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    for await (const chunk of server.stderr ?? []) {
      said += String(chunk);
      if (said.includes("listens on")) return;
    }
    throw new Error(`the server did not start:\n${said}`);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-console-"));
    port = await freePort();
    await start();
  });
  afterAll(async () => {
    await ended("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  });
  const ended = async (signal: NodeJS.Signals): Promise<void> => {
    const closed = once(server, "exit");
    server.kill(signal);
    await closed;
  };

  it("the page says that it is not live, keeps what it has, and recovers by itself", async () => {
    const url = `http://127.0.0.1:${port}`;
    const admin = createBerth({ url, token: ADMIN_KEY });
    const { tenantId } = await admin.access.whoami();
    const browser = await launch();
    const { page } = await openPage(browser, `${url}/pools`, { token: ADMIN_KEY });
    await settled(page);
    await ended("SIGKILL");
    await page.getByText("Connection lost").waitFor();
    // What was there is still to be seen.
    expect(await page.getByRole("heading", { name: "Pools", level: 1 }).count()).toBe(1);

    await start();
    const site = await admin.fleet.putSite({ tenantId, name: "hall", region: "here" });
    await admin.pools.create({
      tenantId,
      siteId: site.id,
      class: "metal-host",
      policy: { label: "made meanwhile" },
    });
    await page.getByText("made meanwhile").waitFor();
    await settled(page);
    expect(await page.getByText("Connection lost").count()).toBe(0);
    await browser.close();
  });

  it("one that is frozen, its connections open, is not called live, and is again once it is heard", async () => {
    const browser = await launch();
    const { page } = await openPage(browser, `http://127.0.0.1:${port}/pools`, {
      token: ADMIN_KEY,
    });
    await settled(page);
    server.kill("SIGSTOP");
    const since = performance.now();
    try {
      await page.getByText("Connection lost").waitFor({ timeout: 20_000 });
      // A look every 10 s, and 4 s of patience with its answer; the rest is the machine's.
      expect(performance.now() - since).toBeLessThan(16_000);
    } finally {
      server.kill("SIGCONT");
    }
    await page.getByText("Connection lost").waitFor({ state: "detached", timeout: 20_000 });
    await settled(page);
    await browser.close();
  });
});

async function freePort(): Promise<number> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const address = holder.address();
  holder.close();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
