/** More nodes than one answer holds: what is there is shown, and what is not there yet is said. */
import { expect, it } from "vitest";
import { seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();
const COUNT = 450;

/** A pool of its own, three pages large. */
async function large(): Promise<void> {
  const { admin } = world();
  await admin.fleet.putTenant({ tenantId: "large" });
  const site = await admin.fleet.putSite({ tenantId: "large", name: "hall", region: "eu" });
  const pool = await admin.pools.create({
    tenantId: "large",
    siteId: site.id,
    class: "metal-host",
    gpuModel: "X",
    policy: { label: "large" },
  });
  const names = Array.from({ length: COUNT }, (_, index) => `n${String(index).padStart(3, "0")}`);
  await admin.fleet.putNodes({
    siteId: site.id,
    poolId: pool.id,
    nodes: names.map((name) => ({
      name,
      labels: { rack: name.slice(0, 2) },
      gpus: [{ uuid: `GPU-${name}`, index: 0, model: "X" }],
    })),
  });
}

it("the first page is painted while the others are on their way, and says so", async () => {
  await large();
  const { page } = await open("/pools?tenant=large", { token: world().adminToken });
  await settled(page);
  // The pages of the list are let through one at a time.
  let answered = 0;
  const gates = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  await page.route(/fleet\.listNodes/, async (route) => {
    const gate = gates[answered];
    answered += 1;
    await gate?.promise;
    await route.continue();
  });
  await page.getByRole("link", { name: "large" }).first().click();
  const grid = page.getByRole("grid", { name: "GPUs of the pool" });
  const progress = page.getByRole("status", { name: "Loading nodes" });
  gates[0]?.resolve();
  await progress.getByText("200 nodes so far; more are being read.").waitFor();
  await grid
    .getByRole("gridcell", { name: /^GPU 0 on n/ })
    .first()
    .waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  for (const gate of gates.slice(1)) gate.resolve();
  await progress.waitFor({ state: "detached" });
  await expect
    .poll(async () => Number(await grid.getAttribute("aria-rowcount")))
    .toBeGreaterThan(COUNT);
});
