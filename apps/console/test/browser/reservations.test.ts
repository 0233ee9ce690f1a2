/** Reservations and the facts of one, as whoever books uses them. */
import type { Reservation } from "@berth/client";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { overhang, seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();
const HOUR = 3_600_000;

async function book(given: object = {}): Promise<Reservation> {
  return world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId: world().pool("H100"),
      devices: [{ class: "gpu", count: 8 }],
      duration: "4h",
      ...given,
    });
}

const current = ({ id }: Reservation): Promise<Reservation> =>
  world().as().reservations.get({ tenantId: "vision", reservationId: id });
const facts = (page: Page) => page.getByRole("complementary", { name: "Facts of the reservation" });
const param = (page: Page, name: string): string | null =>
  new URL(page.url()).searchParams.get(name);

it("the calendar by node: choosing a bar opens its facts, lights it, and is in the address", async () => {
  const made = await book();
  const node = made.members?.[0]?.nodeName ?? "";
  const { page, complaints } = await open("/reservations");
  await settled(page);
  const lanes = page.getByRole("group", { name: "Bookings by node" });
  const bar = lanes
    .getByRole("group", { name: node, exact: true })
    .getByRole("button", { name: /^8 GPUs, mine/ });
  await bar.click();
  await facts(page).getByRole("heading", { name: "8 GPUs" }).waitFor();
  expect(param(page, "rsv")).toBe(made.id);
  expect(await bar.getAttribute("aria-pressed")).toBe("true");
  // The same address in another browser shows the same.
  const { page: other } = await open(new URL(page.url()).pathname + new URL(page.url()).search);
  await facts(other).getByRole("heading", { name: "8 GPUs" }).waitFor();
  await page.keyboard.press("Escape");
  await facts(page).waitFor({ state: "detached" });
  expect(param(page, "rsv")).toBeNull();
  expect(complaints).toEqual([]);
});

it("others' bookings are there without a name, and their facts are not", async () => {
  const pool = world().pool("A100");
  await world()
    .as("speech")
    .reservations.create({
      tenantId: "speech",
      poolId: pool,
      devices: [{ class: "gpu", count: 8 }],
      duration: "20h",
    });
  const { page } = await open(`/reservations?pool=${pool}`);
  await settled(page);
  const bar = page.getByRole("button", { name: /^8 GPUs, booked/ }).first();
  await bar.click();
  expect(param(page, "rsv")).toBeNull();
  expect(await page.content()).not.toContain("speech");
});

it("arrows go from bar to bar; the tab key stops once", async () => {
  const poolId = world().pool("L40S");
  for (const start of [2, 8, 14])
    await book({
      poolId,
      devices: [{ class: "gpu", count: 4 }],
      start: Date.now() + start * HOUR,
      duration: "2h",
    });
  const { page } = await open(`/reservations?pool=${poolId}`);
  await settled(page);
  const lanes = page.getByRole("group", { name: "Bookings by node" });
  await lanes.getByRole("button").first().waitFor();
  expect(await lanes.locator("button[tabindex='0']").count()).toBe(1);
  await lanes.locator("button[tabindex='0']").focus();
  const focused = (): Promise<string | null> =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? null);
  const first = await focused();
  await page.keyboard.press("ArrowRight");
  const second = await focused();
  expect(second).not.toBe(first);
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  expect(await focused()).toBe(first);
  await page.keyboard.press("Enter");
  await facts(page).waitFor();
});

it("a drag on the axis zooms in, and the window is in the address", async () => {
  await book({ start: Date.now() + 30 * HOUR });
  const { page } = await open("/reservations");
  await settled(page);
  const ruler = page.getByTitle("Drag to zoom in, double-click to zoom out");
  const box = await ruler.boundingBox();
  if (!box) throw new Error("there is no axis");
  await page.mouse.move(box.x + 300, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => param(page, "from")).not.toBeNull();
  const wide = Number(param(page, "to")) - Number(param(page, "from"));
  expect(wide / HOUR).toBeGreaterThan(20);
  expect(wide / HOUR).toBeLessThan(60);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await expect.poll(() => Number(param(page, "to")) - Number(param(page, "from"))).toBe(2 * wide);
  await page.getByRole("button", { name: "30 d" }).click();
  await expect
    .poll(() => Number(param(page, "to")) - Number(param(page, "from")))
    .toBe(30 * 24 * HOUR);
});

it("a stretch drawn on a free node is the booking form, filled in", async () => {
  const poolId = world().pool("T4");
  const { page } = await open(`/reservations?pool=${poolId}`);
  await settled(page);
  await page.getByRole("button", { name: "24 h" }).click();
  const lane = page.getByRole("group", { name: "Bookings by node" }).getByRole("group").nth(1);
  const box = await lane.locator("[data-drawable=true]").boundingBox();
  if (!box) throw new Error("there is no lane");
  await page.mouse.move(box.x + box.width * 0.5, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 8, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/\/book\?/);
  expect(param(page, "pool")).toBe(poolId);
  expect(Number(param(page, "gpus"))).toBeGreaterThan(0);
  expect(Number(param(page, "start"))).toBeGreaterThan(Date.now());
  expect(param(page, "for")).toMatch(/^[56]h/);
});

it("keys alone draw a stretch, and say where it is", async () => {
  const poolId = world().pool("T4");
  const { page } = await open(`/reservations?pool=${poolId}`);
  await settled(page);
  await page.getByRole("button", { name: "24 h" }).click();
  const lanes = page.getByRole("group", { name: "Bookings by node" });
  expect(await lanes.evaluate((at) => at.getAttribute("aria-describedby"))).not.toBe(null);
  const stop = lanes.locator("[tabindex='0']").or(page.locator("[role=group][tabindex='0']"));
  await stop.first().focus();
  await page.keyboard.press("b");
  const draft = lanes.getByRole("button", { name: /^New booking on / });
  const name = (): Promise<string> => draft.evaluate((at) => at.getAttribute("aria-label") ?? "");
  const first = await name();
  expect(await draft.evaluate((at) => at === document.activeElement)).toBe(true);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await expect.poll(name).not.toBe(first);
  expect(await name()).toContain("2 h 30 min, free. Enter opens the form.");
  await lanes.getByRole("status").getByText("2 h 30 min, free").waitFor({ state: "attached" });
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await draft.waitFor({ state: "detached" });
  await page.keyboard.press("b");
  await page.keyboard.press("PageDown");
  await expect.poll(() => param(page, "from")).not.toBeNull();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/book\?/);
  expect(param(page, "pool")).toBe(poolId);
  expect(Number(param(page, "start"))).toBeGreaterThan(Date.now() + 23 * HOUR);
  expect(param(page, "for")).toBe("2h");
});

it("the table is filtered by state, and a row opens its facts", async () => {
  const kept = await book({ devices: [{ class: "gpu", count: 3 }] });
  const gone = await book({ devices: [{ class: "gpu", count: 5 }] });
  await world().as().reservations.release({ tenantId: "vision", reservationId: gone.id });
  const { page } = await open("/reservations?view=table");
  await settled(page);
  const table = page.getByRole("table", { name: "Reservations" });
  await table.getByRole("link", { name: "3 GPUs" }).waitFor();
  expect(await table.getByRole("link", { name: "5 GPUs" }).count()).toBe(0);
  await page.getByLabel("State", { exact: true }).selectOption({ label: "Released" });
  await table.getByRole("link", { name: "5 GPUs" }).waitFor();
  expect(await table.getByRole("link", { name: "3 GPUs" }).count()).toBe(0);
  expect(param(page, "state")).toBe("released");
  await table.getByRole("link", { name: "5 GPUs" }).click();
  // What is over stays dead and says why.
  const release = facts(page).getByRole("button", { name: /^Release/ });
  await release.waitFor();
  expect(await release.getAttribute("aria-disabled")).toBe("true");
  await facts(page).getByText("It is over: released.").first().waitFor({ state: "attached" });
  await world().as().reservations.release({ tenantId: "vision", reservationId: kept.id });
});

it("a row is opened by a press anywhere on it, but not by marking what it says", async () => {
  const made = await book({ devices: [{ class: "gpu", count: 6 }] });
  const { page } = await open("/reservations?view=table");
  await settled(page);
  const row = page.getByRole("row", { name: /^6 GPUs/ });
  const id = row.getByTitle(made.id);
  const { x = 0, y = 0, width = 0, height = 0 } = (await id.boundingBox()) ?? {};
  await page.mouse.move(x + 1, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width - 1, y + height / 2, { steps: 4 });
  await page.mouse.up();
  expect(await page.evaluate(() => getSelection()?.toString().length)).toBeGreaterThan(3);
  expect(param(page, "rsv")).toBeNull();
  await page.mouse.click(x, 5);
  await row.getByRole("cell").nth(2).click();
  await facts(page).getByText("6 GPUs").first().waitFor();
  expect(param(page, "rsv")).toBe(made.id);
  await world().as().reservations.release({ tenantId: "vision", reservationId: made.id });
});

it("renew, extend by what the what-if allows, and release after its plan", async () => {
  const made = await book({ devices: [{ class: "gpu", count: 2 }], leaseSeconds: 600 });
  const { page, complaints } = await open(`/reservations?view=table&rsv=${made.id}`);
  const panel = facts(page);
  await panel.getByText("unless renewed").waitFor();
  await panel.getByRole("button", { name: "Renew" }).click();
  await expect
    .poll(async () => (await current(made)).leaseExpiresAt)
    .toBeGreaterThan(made.leaseExpiresAt ?? 0);

  await panel.getByRole("button", { name: "Extend" }).click();
  await panel.getByRole("button", { name: "+4 h" }).click();
  await panel.getByText("Fits, on the same units").waitFor();
  await panel.getByRole("button", { name: /^Extend to \w+ \d+ \w+ \d\d:\d\d CES?T$/ }).click();
  await expect.poll(async () => (await current(made)).end).toBe(made.end + 4 * HOUR);

  await panel.getByRole("button", { name: "Release" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Release this reservation" });
  await dialog.getByText("what runs on it is cut off").waitFor();
  await dialog.getByRole("button", { name: "Release 2 GPUs" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(async () => (await current(made)).state).toBe("released");
  const trail = panel.getByRole("list", { name: "Events of the reservation" });
  for (const word of ["released", "extended", "lease renewed", "booked"])
    await trail.getByText(word, { exact: true }).first().waitFor();
  expect(complaints).toEqual([]);
});

it("an extension that does not fit names the latest end that would, as a button", async () => {
  const poolId = world().pool("T4");
  const made = await book({ poolId, devices: [{ class: "gpu", count: 1 }], duration: "2h" });
  const [member] = made.members ?? [];
  const next = await book({
    poolId,
    devices: [{ class: "gpu", count: 1, selector: { unitIds: [member?.atoms[0]?.unitId ?? ""] } }],
    start: made.end + HOUR,
  });
  const { page } = await open(`/reservations?rsv=${made.id}`);
  await facts(page).getByRole("button", { name: "Extend" }).click();
  await facts(page).getByRole("button", { name: "+1 d" }).click();
  await facts(page)
    .getByRole("button", { name: /^Extend to .* instead$/ })
    .click();
  await expect.poll(async () => (await current(made)).end).toBe(next.start);
});

it("book again is the form with the same shape", async () => {
  const made = await book({ devices: [{ class: "gpu", count: 2 }], duration: "6h" });
  const { page } = await open(`/reservations?rsv=${made.id}`);
  await facts(page).getByRole("button", { name: "Book again" }).click();
  await page.waitForURL(/\/book\?/);
  expect([param(page, "gpus"), param(page, "for"), param(page, "pool")]).toEqual([
    "2",
    "6h",
    made.poolId,
  ]);
});

it("the calendar feed is an address that a calendar program can read with a key", async () => {
  const made = await book({ devices: [{ class: "gpu", count: 1 }] });
  const { page } = await open("/reservations");
  await settled(page);
  await page.getByRole("button", { name: "Calendar feed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Copy the address" }).click();
  await page.getByRole("dialog").getByText("Copied").waitFor();
  const address = await page.evaluate(() => navigator.clipboard.readText());
  const password = Buffer.from(`me:${world().token()}`).toString("base64");
  const feed = await fetch(address, { headers: { authorization: `Basic ${password}` } });
  expect((await feed.text()).replaceAll("\r\n ", "")).toContain(`UID:${made.id}@berth`);
});

it("a viewer sees the same with dead buttons that say why", async () => {
  const made = await book({ devices: [{ class: "gpu", count: 1 }] });
  const key = { tenantId: "vision", role: "tenant-viewer", name: "looks" } as const;
  const { secret } = await world().admin.access.createKey(key);
  const { page } = await open(`/reservations?rsv=${made.id}`, { token: secret });
  for (const name of ["Renew", "Extend", "Book again", "Release"]) {
    const button = facts(page).getByRole("button", { name });
    await button.waitFor();
    expect(await button.getAttribute("aria-disabled"), name).toBe("true");
  }
  await facts(page)
    .getByText("Only an operator of the tenant may do this; you are a viewer.")
    .first()
    .waitFor({ state: "attached" });
});

const STATES = {
  "with the facts open": ({ id }: Reservation) => `/reservations?rsv=${id}`,
  "by booking": () => "/reservations?by=reservation",
} as const;

for (const scheme of ["light", "dark"] as const)
  for (const [state, pathOf] of Object.entries(STATES))
    it(`${state}, axe finds nothing serious and 375 px are wide enough (${scheme})`, async () => {
      const path = pathOf(await book({ devices: [{ class: "gpu", count: 1 }] }));
      const { page } = await open(path, { scheme });
      await settled(page);
      expect(await seriousFindings(page)).toEqual([]);
      const { page: narrow } = await open(path, { scheme, width: 375 });
      await settled(narrow);
      expect(await overhang(narrow)).toBeLessThanOrEqual(0);
    });
