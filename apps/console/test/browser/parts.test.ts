/** A pool whose GPUs are cut: what is counted in it are instances, wherever a number is said. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();
const MODEL = "NVIDIA-H100-80GB-HBM3";

/** A pool of one machine with two GPUs of three instances each, of which vision has booked two. */
async function cutPool(name: string): Promise<string> {
  const { admin } = world();
  const { siteId } = await admin.pools.get({ tenantId: "lab", poolId: world().pool("H100") });
  const { id: poolId } = await admin.pools.create({
    tenantId: "lab",
    siteId,
    class: "metal-host",
    sharing: "mig",
    policy: { label: name, migLayout: { [MODEL]: ["3g.40gb", "2g.20gb", "2g.20gb"] } },
  });
  const gpus = [0, 1].map((index) => ({ uuid: `GPU-${name}-${index}`, index, model: MODEL }));
  await admin.fleet.putNodes({ siteId, poolId, nodes: [{ name, gpus }] });
  await admin.pools.offer({
    tenantId: "lab",
    poolId,
    toTenantId: "vision",
    quota: { "gpu.mig": 4 },
  });
  await world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId,
      devices: [{ class: "gpu.mig", count: 2 }],
      duration: "5h",
    });
  return poolId;
}

it("the overview adds up GPUs and instances each by itself, and tells mine among both", async () => {
  await cutPool("cut-overview");
  const { page } = await open("/");
  await settled(page);
  await page.getByText("Beside them 6 MIG instances: 2 mine now, 4 free").waitFor();
  const whole = page.getByLabel("GPUs of all pools");
  const [total = ""] = /of [\d,]+ GPUs/.exec((await whole.textContent()) ?? "") ?? [];
  const { pools } = await world().as().capacity.summary({ tenantId: "vision" });
  const gpus = pools.flatMap(({ capacity }) =>
    capacity.filter(({ resource }) => resource === "gpu"),
  );
  expect(total).toBe(`of ${gpus.reduce((sum, row) => sum + row.total, 0)} GPUs`);
});

it("archive and withdraw speak of instances", async () => {
  const poolId = await cutPool("cut-archive");
  const { page } = await open(`/pools/${poolId}?tenant=lab`, { token: world().adminToken });
  await settled(page);
  await page.getByRole("button", { name: "Withdraw the offer to vision" }).click();
  const offer = page.getByRole("alertdialog", { name: "Withdraw the offer to vision" });
  await offer.getByRole("button", { name: "Withdraw 2 MIG instances not in use" }).waitFor();
  await offer.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Archive" }).click();
  const plan = page.getByRole("alertdialog", { name: "Archive this pool" });
  await plan
    .getByText("No booking ends: 2 MIG instances booked now stay so to their end")
    .waitFor();
});

it("a machine leaves with its instances, said of its GPUs", async () => {
  await cutPool("cut-leaves");
  const { page } = await open("/fleet?q=cut-leaves", { token: world().adminToken });
  await settled(page);
  await page.getByRole("gridcell", { name: /^GPU 0 on cut-leaves/ }).click();
  const detail = page.getByRole("region", { name: "Node cut-leaves" });
  await detail.getByRole("button", { name: /^Remove/ }).click();
  const dialog = page.getByRole("alertdialog", { name: "Remove cut-leaves from the fleet" });
  await dialog
    .getByRole("button", { name: "Remove cut-leaves and 6 MIG instances on 2 GPUs" })
    .waitFor();
  await dialog.getByText("6 MIG instances on 2 GPUs of cut-leaves leave the fleet").waitFor();
});

it("a quota that the server would refuse is said at its field, with the bounds", async () => {
  const poolId = await cutPool("cut-quota");
  const { page } = await open(`/pools/${poolId}?tenant=lab`, { token: world().adminToken });
  await settled(page);
  await page.getByRole("button", { name: "Resize the offer to vision" }).click();
  const dialog = page.getByRole("dialog", { name: "Resize the offer to vision" });
  const field = dialog.getByLabel("MIG instances, at most at one time");
  await field.fill("2147483648");
  await dialog.getByText("A whole number from 0 to 2,147,483,647.").waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  const resize = dialog.getByRole("button", { name: /^Resize/ });
  expect(await resize.getAttribute("aria-disabled")).toBe("true");
  await field.fill("3");
  await resize.click();
  await dialog.waitFor({ state: "detached" });
});
