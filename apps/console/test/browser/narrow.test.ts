/** Names that are too long for their place, and places that are too narrow: nothing breaks out of its row. */
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { overhang, settled, stage } from "./kit.ts";

const { world, open } = stage();

/** Whether all of its text is in sight. */
function isWhole(at: Locator): Promise<boolean> {
  return at.evaluate(
    (node) => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight,
  );
}

it("at 320 px the names of the pages stand in one line each", async () => {
  const { page } = await open("/", { width: 320 });
  await settled(page);
  for (const link of await page.getByRole("navigation").getByRole("link").all()) {
    const name = await link.textContent();
    const lines = await link.getByText(name ?? "").evaluate((node) => {
      const text = document.createRange();
      text.selectNodeContents(node);
      return text.getClientRects().length;
    });
    expect(lines, name ?? "").toBe(1);
  }
  expect(await overhang(page)).toBe(0);
});

it("what a node has free and when that changes is read in full beside the booking form", async () => {
  const poolId = world().pool("H100");
  await world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "9h",
    });
  const { page } = await open(`/book?pool=${poolId}&gpus=200&for=1h`, { width: 1280 });
  await settled(page);
  const facts = page
    .getByRole("gridcell")
    .filter({ hasText: /changes \w{3} / })
    .first();
  await facts.waitFor();
  expect(await isWhole(facts)).toBe(true);
  expect(await isWhole(facts.getByText(/^changes /))).toBe(true);
});

it("a rack's long name stays in its row, with the whole of it as the title", async () => {
  const { admin } = world();
  const poolId = world().pool("H100");
  const { siteId } = await admin.pools.get({ tenantId: "lab", poolId });
  const rack = `hall 7, ${"row of racks ".repeat(12)}`.trim();
  await admin.fleet.putNodes({
    siteId,
    poolId,
    nodes: [{ name: "long-rack", labels: { rack }, gpus: [] }],
  });
  const { page } = await open("/fleet?q=long-rack", { token: world().adminToken });
  await settled(page);
  const header = page.getByRole("rowheader", { name: /^rack hall 7/ });
  await header.waitFor();
  const label = header.getByTitle(`rack ${rack}`);
  expect((await label.boundingBox())?.height).toBeLessThan(24);
  expect((await header.boundingBox())?.height).toBeLessThan(30);
});
