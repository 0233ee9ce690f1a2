/** Pools, one pool and the audit trail, as their owner and as whoever is offered them. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();
const param = (page: Page, name: string): string | null =>
  new URL(page.url()).searchParams.get(name);

let keys = 0;
async function owner(): Promise<string> {
  keys += 1;
  const key = { tenantId: "lab", role: "tenant-admin", name: `owner-${keys}` } as const;
  return (await world().admin.access.createKey(key)).secret;
}

/** A pool of its own for each test that changes one. */
async function ownPool(label: string): Promise<string> {
  const { admin } = world();
  const { siteId } = await admin.pools.get({ tenantId: "lab", poolId: world().pool("H100") });
  const made = await admin.pools.create({
    tenantId: "lab",
    siteId,
    class: "metal-host",
    gpuModel: "H100",
    policy: { label },
  });
  return made.id;
}

const poolOf = (poolId: string) => world().admin.pools.get({ tenantId: "lab", poolId });

it("the list is filtered by whose, model and text, and the filters are in the address", async () => {
  const { page } = await open("/pools", { token: await owner() });
  await settled(page);
  const table = page.getByRole("table", { name: "Pools" });
  const rows = (): Promise<number> => table.getByRole("row").count();
  const all = await rows();
  await page.getByLabel("Find a pool").fill("l40s");
  await expect.poll(rows).toBe(2);
  expect(param(page, "q")).toBe("l40s");
  await page.getByLabel("Whose").selectOption({ label: "Offered to me" });
  await page.getByText("No pool is like that").waitFor();
  await page.reload();
  await page.getByText("No pool is like that").waitFor();
  await page.getByLabel("Whose").selectOption({ label: "Owned and offered" });
  await page.getByLabel("Find a pool").fill("");
  await expect.poll(rows).toBe(all);
  await table.getByRole("link", { name: "NVIDIA-L40S" }).click();
  await page.getByRole("heading", { level: 1, name: "NVIDIA-L40S" }).waitFor();
});

it("mine across all pools adds up what runs", async () => {
  const berth = world().as();
  for (const model of ["H100", "A100"])
    await berth.reservations.create({
      tenantId: "vision",
      poolId: world().pool(model),
      devices: [{ class: "gpu", count: 4 }],
      duration: "2h",
    });
  const { page } = await open("/pools?mine=true");
  await page.getByText(/^8 GPUs now, in 2 bookings and 2 pools$/).waitFor();
});

it("a new pool: its policy is checked as it is typed, and what the server refuses stands at its field", async () => {
  const { page, complaints } = await open("/pools", { token: await owner() });
  await page.getByRole("button", { name: "New pool" }).click();
  const form = page.getByRole("dialog", { name: "New pool" });
  await form.getByLabel("Label").fill("fresh");
  await form.getByLabel("Spot notice, seconds").fill("4000");
  await form.getByText("A whole number from 0 to 3,600.").waitFor();
  const submit = form.getByRole("button", { name: /^Make the pool/ });
  expect(await submit.getAttribute("aria-disabled")).toBe("true");
  await form.getByLabel("Spot notice, seconds").fill("60");
  await form.getByLabel("Sharing").selectOption("mig");
  await form.getByLabel("How GPUs are cut").fill("NVIDIA A100-SXM4-80GB: 7g.80gb, 7g.80gb");
  expect(await seriousFindings(page)).toEqual([]);
  await submit.click();
  // Only the server knows which cuts go together.
  const field = form.getByLabel("How GPUs are cut");
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill("NVIDIA A100-SXM4-80GB: 3g.40gb, 2g.20gb, 2g.20gb");
  await submit.click();
  await page.getByRole("heading", { level: 1, name: "fresh" }).waitFor();
  const made = (await world().admin.pools.list({ tenantId: "lab" })).pools.find(
    ({ label }) => label === "fresh",
  );
  expect(made).toMatchObject({ sharing: "mig", policy: { spot: { noticeSeconds: 60 } } });
  expect(complaints).toEqual([]);
});

it("an offer is made, resized, and withdrawn with its plan", async () => {
  const poolId = await ownPool("offered");
  const { page } = await open(`/pools/${poolId}`, { token: await owner() });
  await page.getByText("Offered to nobody").waitFor();
  await page.getByRole("button", { name: "Offer to a tenant" }).click();
  const making = page.getByRole("dialog", { name: "Offer this pool" });
  await making.getByLabel("To tenant").fill("vision");
  await making.getByLabel("GPUs, at most at one time").fill("16");
  await making.getByRole("button", { name: "Offer", exact: true }).click();
  const table = page.getByRole("table", { name: "Offers of the pool" });
  await table.getByText("0 of 16").waitFor();

  await table.getByRole("button", { name: "Resize the offer to vision" }).click();
  const resizing = page.getByRole("dialog", { name: "Resize the offer to vision" });
  await resizing.getByLabel("GPUs, at most at one time").fill("24");
  await resizing.getByLabel("Priority").fill("5");
  await resizing.getByRole("button", { name: "Resize", exact: true }).click();
  await table.getByText("0 of 24").waitFor();
  expect((await poolOf(poolId)).offers).toMatchObject([{ tenantId: "vision", priority: 5 }]);

  await table.getByRole("button", { name: "Withdraw the offer to vision" }).click();
  const plan = page.getByRole("alertdialog", { name: "Withdraw the offer to vision" });
  await plan.getByText("24 unused go").waitFor();
  await plan.getByText("Its live bookings run to their end").waitFor();
  await plan.getByRole("button", { name: "Withdraw 24 GPUs not in use" }).click();
  await page.getByText("Offered to nobody").waitFor();
});

it("the policy is edited in place", async () => {
  const poolId = await ownPool("edited");
  const { page } = await open(`/pools/${poolId}`, { token: await owner() });
  await page.getByRole("button", { name: "Edit policy" }).click();
  await page.getByLabel("Label").fill("renamed");
  await page.getByLabel("Longest booking").fill("12h");
  await page.getByRole("button", { name: "Save policy" }).click();
  await page.getByRole("heading", { level: 1, name: "renamed" }).waitFor();
  expect((await poolOf(poolId)).policy).toMatchObject({
    label: "renamed",
    maxDuration: 43_200_000,
  });
});

it("archive says what goes and what runs on, and does it", async () => {
  const poolId = await ownPool("retired");
  const { admin } = world();
  await admin.pools.offer({ tenantId: "lab", poolId, toTenantId: "vision", quota: { gpu: 4 } });
  const { page } = await open(`/pools/${poolId}`, { token: await owner() });
  await page.getByRole("button", { name: "Archive" }).click();
  const plan = page.getByRole("alertdialog", { name: "Archive this pool" });
  await plan.getByText("1 offer withdrawn").waitFor();
  await plan.getByText("No booking ends").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await plan.getByRole("button", { name: "Archive and withdraw 1 offer" }).click();
  await page.getByText("archived", { exact: true }).first().waitFor();
  expect((await poolOf(poolId)).archived).toBe(true);
  const archive = page.getByRole("button", { name: /^Archive/ });
  await expect.poll(() => archive.getAttribute("aria-disabled")).toBe("true");
});

it("a booker sees capacity beside quota, and why the owner's buttons are dead", async () => {
  const { page } = await open(`/pools/${world().pool("H100")}`);
  await settled(page);
  const capacity = page.getByRole("table", { name: "Capacity of the pool" });
  await capacity.getByRole("row", { name: /^GPUs.*left of 96/ }).waitFor();
  for (const name of [/^Archive/, /^Edit policy/]) {
    const button = page.getByRole("button", { name });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
  }
  expect(await page.getByRole("table", { name: "Offers of the pool" }).count()).toBe(0);
});

it("the map: choosing one of my GPUs lights up the whole reservation, by arrows as well", async () => {
  const poolId = world().pool("A100");
  const made = await world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId,
      devices: [{ class: "gpu", count: 3 }],
      duration: "2h",
    });
  const node = made.members?.[0]?.nodeName ?? "";
  const mine = new Set(made.members?.[0]?.atoms.map(({ index }) => index));
  const { page } = await open(`/pools/${poolId}`);
  const map = page.getByRole("grid", { name: "GPUs of the pool" });
  await map
    .getByRole("gridcell", { name: /^GPU 0/ })
    .first()
    .waitFor();
  expect(await map.locator("[tabindex='0']").count()).toBe(1);
  const [first = 0] = mine;
  const cell = map.getByRole("gridcell", { name: new RegExp(`^GPU ${first} on ${node}: mine`) });
  await cell.click();
  await page.getByRole("complementary").getByRole("heading", { name: "3 GPUs" }).waitFor();
  const lit = map
    .getByRole("row", { name: new RegExp(node) })
    .getByRole("gridcell", { selected: true });
  expect(await lit.count()).toBe(3);
  await page.keyboard.press("Escape");
  await cell.focus();
  await page.keyboard.press("ArrowDown");
  const label = (): Promise<string | null> =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? null);
  expect(await label()).toMatch(new RegExp(`^GPU ${first} on (?!${node})`));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary").getByRole("heading", { name: "3 GPUs" }).waitFor();
});

it("the map shows the nodes of a cause alone, and all again", async () => {
  const poolId = world().pool("T4");
  await world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId,
      devices: [{ class: "gpu", count: 2 }],
      duration: "3h",
    });
  const { page } = await open(`/pools/${poolId}?cause=BUSY&gpus=2`);
  await page.getByText(/^1 of \d+ nodes: booked in that time\./).waitFor();
  const heads = page.getByRole("grid").getByRole("rowheader");
  const few = await heads.count();
  await page.getByRole("button", { name: "Show all nodes" }).click();
  await expect.poll(() => heads.count()).toBeGreaterThan(few);
  expect(param(page, "cause")).toBeNull();
});

it("the chart has a table of the same numbers, and a cursor that arrows move", async () => {
  const { page } = await open(`/pools/${world().pool("H100")}?span=7d`);
  const figure = page.getByRole("figure", { name: /^Booked and free GPUs from/ });
  await figure.locator("canvas").waitFor();
  await figure.focus();
  await page.keyboard.press("ArrowRight");
  await page
    .getByText(/\d+ free$/)
    .first()
    .waitFor();
  await page.getByText("The same as a table").click();
  const table = page.getByRole("table", { name: /^Booked and free GPUs from/ });
  expect(await table.getByRole("row").count()).toBe(1 + 84);
});

it("the trail is newest first, tells of a call within a second, and finds refusals", async () => {
  const { page } = await open("/activity?tenant=lab", { token: world().adminToken });
  await settled(page);
  const table = page.getByRole("table", { name: "Audit trail" });
  await table.getByRole("row").nth(1).waitFor();
  const poolId = await ownPool("told of");
  const link = table
    .getByRole("row")
    .nth(1)
    .getByRole("link", { name: poolId.slice(-6) });
  await link.waitFor({ timeout: 2_000 });
  await expect(
    world().admin.pools.offer({ tenantId: "lab", poolId, toTenantId: "nobody", quota: { gpu: 1 } }),
  ).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await page.reload();
  await page.getByRole("radio", { name: "Refused" }).check();
  await table.getByText("INVALID_INPUT").first().waitFor();
  expect(param(page, "outcome")).toBe("refused");
});

it("who may not read the trail is told why", async () => {
  const { page } = await open("/activity");
  await page.getByText("Only an admin of the tenant may do this").waitFor();
});
