/** Coming in, being somebody, and leaving. */
import { describe, expect, it } from "vitest";
import { timeText } from "../../src/format/time.ts";
import { seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();

describe("signing in with a key", () => {
  it("leads to the very page that was asked for, and the key stays in the tab", async () => {
    const { page, complaints } = await open("/reservations?view=table", { token: null });
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("API key").fill(world().token());
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Reservations" }).waitFor();
    expect(new URL(page.url()).searchParams.get("view")).toBe("table");
    expect(page.url()).not.toContain(world().token());
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(world().token());
    expect(complaints).toEqual([]);
  });

  it("says what is wrong with a key that is not taken, beside the field", async () => {
    const { page } = await open("/", { token: null });
    const field = page.getByLabel("API key");
    await field.fill("not-a-key");
    await page.getByRole("button", { name: "Sign in with the key" }).click();
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  });

  it("a key that is revoked later ends the session, and says why", async () => {
    const made = await world().admin.access.createKey({
      tenantId: "vision",
      role: "tenant-viewer",
      name: "short-lived",
    });
    const { page } = await open("/pools", { token: made.secret });
    await settled(page);
    await world().admin.access.revokeKey({ keyId: made.key.id });
    await page.reload();
    await page.getByRole("alert").getByText("unknown, revoked or expired").waitFor();
    await page.getByLabel("API key").waitFor();
  });

  it("and out again forgets the key", async () => {
    const { page } = await open("/", { token: null });
    await page.getByLabel("API key").fill(world().token());
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await page.getByRole("menuitem", { name: /^Sign out/ }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

describe("the bar", () => {
  it("changes the tenant, which the address names", async () => {
    const { page } = await open("/pools", { token: world().adminToken });
    const menu = page.getByRole("button", { name: /^Tenant:/ });
    const own = (await menu.getAttribute("aria-label"))?.replace("Tenant: ", "") ?? "";
    await menu.click();
    await page.getByRole("menuitem", { name: /^speech/ }).click();
    await page.getByRole("button", { name: "Tenant: speech" }).waitFor();
    expect(new URL(page.url()).searchParams.get("tenant")).toBe("speech");
    await page.getByRole("button", { name: "Tenant: speech" }).click();
    await page.getByRole("menuitem", { name: new RegExp(`^${own}`) }).click();
    await page.getByRole("button", { name: `Tenant: ${own}` }).waitFor();
    expect(new URL(page.url()).searchParams.has("tenant")).toBe(false);
  });

  it("changes the zone of every time, with UTC in their titles", async () => {
    const now = Date.now();
    const start = Math.ceil(now / 86_400_000 + 6) * 86_400_000 + 8 * 3_600_000;
    const books = (zone: string) =>
      page.getByRole("button", { name: timeText(start, zone, { now }) }).waitFor();
    const { page } = await open(`/book?start=${start}`, {});
    await books("Europe/Berlin");
    await page.getByRole("button", { name: /^Times are in CES?T, Europe\/Berlin$/ }).click();
    await page.getByRole("menuitem", { name: /^Asia\/Tokyo/ }).click();
    await books("Asia/Tokyo");
    await page.reload();
    await books("Asia/Tokyo");
  });

  it("changes the theme, and keeps it", async () => {
    const { page } = await open("/", {});
    await settled(page);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await page.getByRole("menuitem", { name: /^Dark theme/ }).click();
    await expect.poll(background).not.toBe(light);
    await page.reload();
    await settled(page);
    expect(await background()).not.toBe(light);
  });
});

describe("the palette", () => {
  it("finds pages and pools by the keyboard alone", async () => {
    const { page } = await open("/", {});
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.type("L40S");
    await page.getByRole("menuitem", { name: /L40S/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /L40S/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
  });

  it("opens a booking by its id", async () => {
    const [booking] = await world()
      .as()
      .reservations.list({ tenantId: "vision" })
      .toArray({ limit: 1 });
    const made =
      booking ??
      (await world()
        .as()
        .reservations.create({
          tenantId: "vision",
          poolId: world().pool("H100"),
          devices: [{ class: "gpu", count: 1 }],
          duration: "1h",
        }));
    const { page } = await open("/pools", {});
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox", { name: "Search" }).fill(made.id);
    await page.getByRole("menuitem", { name: new RegExp(made.id) }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  });
});
