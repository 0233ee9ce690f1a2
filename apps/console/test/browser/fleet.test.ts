/** The fleet, as its operator and as the owner of machines. */
import { createBerth } from "@berth/client";
import type { NodeSchedule, Reservation, UnitReservation } from "@berth/client";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { person, seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();
const HOUR = 3_600_000;
let made = 0;

/** A node of its own for each test, with GPUs that can be set aside. */
async function machine(gpus = 4): Promise<NodeSchedule> {
  const { admin } = world();
  const poolId = world().pool("H100");
  const { siteId } = await admin.pools.get({ tenantId: "lab", poolId });
  made += 1;
  const name = `aside-${made}`;
  await admin.fleet.putNodes({
    siteId,
    poolId,
    nodes: [
      {
        name,
        labels: { rack: "aside" },
        gpus: Array.from({ length: gpus }, (_, index) => ({
          uuid: `GPU-${name}-${index}`,
          index,
          model: "NVIDIA-H100-80GB-HBM3",
          vfioGroup: String(index),
        })),
      },
    ],
  });
  const nodes = await admin.fleet.listNodes({ tenantId: "lab", poolId }).toArray({ limit: 200 });
  const found = nodes.find((node) => node.name === name);
  if (!found) throw new Error("the node is not there");
  return found;
}

async function sold(node: NodeSchedule): Promise<UnitReservation> {
  const { admin } = world();
  const unitIds = node.units.map(({ id }) => id);
  const aside = await admin.unitReservations.create({
    nodeId: node.id,
    unitIds,
    allowedOrgIds: ["vision"],
  });
  return admin.unitReservations.release({ nodeId: node.id, reservationId: aside.id });
}

async function bookUnit(
  node: NodeSchedule,
  index: number,
  given: object = {},
): Promise<Reservation> {
  const unitId = node.units.find((unit) => unit.index === index)?.id ?? "";
  return world()
    .as("robotics")
    .reservations.create({
      tenantId: "robotics",
      poolId: node.poolId ?? "",
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [unitId] } }],
      duration: "5h",
      spot: true,
      ...given,
    });
}

async function stateOf({ id }: Reservation): Promise<string> {
  const ref = { tenantId: "robotics", reservationId: id };
  return (await world().as("robotics").reservations.get(ref)).state;
}

async function fleet(path = "/fleet", token = world().adminToken): Promise<Page> {
  const { page } = await open(path, { token });
  await settled(page);
  return page;
}

const nodeOf = (node: NodeSchedule): Promise<{ state: string; maintenance: unknown[] }> =>
  world().admin.fleet.getNode({ tenantId: "lab", nodeId: node.id });
const cell = (page: Page, node: NodeSchedule, index: number): Locator =>
  page.getByRole("gridcell", { name: new RegExp(`^GPU ${index} on ${node.name}:`) });
const action = (page: Page, name: string, node: NodeSchedule): Locator =>
  page.getByRole("button", { name: `${name}: 4 GPUs on ${node.name}` });

it("C: takes GPUs back from spot in two clicks, and what ends is what was shown", async () => {
  const node = await machine();
  await sold(node);
  const booked = await Promise.all([0, 1, 2].map((index) => bookUnit(node, index)));
  const page = await fleet();
  const me = person();
  await me.click(action(page, "Take back", node));
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText("3 spot reservations end now, without notice").waitFor();
  for (const { id } of booked)
    await dialog.getByRole("button", { name: `Copy the id ${id}` }).waitFor();
  await expect.poll(() => dialog.getByText(/^robotics: 1 GPU, .* left/).count()).toBe(3);
  expect(await Promise.all(booked.map(stateOf))).toEqual(["active", "active", "active"]);
  await me.click(dialog.getByRole("button", { name: "Terminate 3 spot reservations" }));
  await dialog.waitFor({ state: "detached" });
  expect(me.clicks()).toBe(2);
  expect(await Promise.all(booked.map(stateOf))).toEqual([
    "terminated",
    "terminated",
    "terminated",
  ]);
  // Nothing is left to take back, and the button says so.
  await expect
    .poll(() => action(page, "Take back", node).getAttribute("aria-disabled"))
    .toBe("true");
});

it("when the plan has changed nothing is done and the new plan is shown", async () => {
  const node = await machine();
  await sold(node);
  const first = await bookUnit(node, 0);
  const page = await fleet();
  await action(page, "Take back", node).click();
  const dialog = page.getByRole("alertdialog");
  const button = dialog.getByRole("button", { name: "Terminate 1 spot reservation" });
  await button.waitFor();
  const second = await bookUnit(node, 1);
  await button.click();
  await dialog.getByText("Something changed meanwhile and nothing was done.").waitFor();
  await dialog.getByRole("button", { name: "Terminate 2 spot reservations" }).waitFor();
  expect(await Promise.all([first, second].map(stateOf))).toEqual(["active", "active"]);
});

it("sets picked GPUs aside for a term, sells some of them, and ends it", async () => {
  const node = await machine();
  const page = await fleet(`/fleet?q=${node.name}`);
  await cell(page, node, 1).click();
  await cell(page, node, 2).click();
  const detail = page.getByRole("region", { name: `Node ${node.name}` });
  await detail.getByRole("button", { name: "Set 2 GPUs aside" }).click();
  const dialog = page.getByRole("dialog", { name: `Set GPU 1, 2 of ${node.name} aside` });
  expect(await seriousFindings(page)).toEqual([]);
  const submit = dialog.getByRole("button", { name: /^Set 2 GPUs aside/ });
  expect(await submit.getAttribute("aria-disabled")).toBe("true");
  await dialog.getByLabel("For tenants").fill("vision, speech");
  await dialog.getByLabel("Reason").fill("Contract 7");
  await dialog.getByLabel(/^Ends/).fill("2027-01-31T12:00");
  await submit.click();
  await dialog.waitFor({ state: "detached" });
  const { admin } = world();
  const live = async (): Promise<UnitReservation | undefined> =>
    (await admin.unitReservations.list({ nodeId: node.id }).toArray({ limit: 9 }))[0];
  expect(await live()).toMatchObject({
    reservedUnitIds: node.units
      .filter(({ index }) => index === 1 || index === 2)
      .map(({ id }) => id),
    reason: "Contract 7",
    // Noon in Berlin.
    endsAt: "2027-01-31T11:00:00.000Z",
  });

  await page.getByRole("button", { name: `Sell as spot: 2 GPUs on ${node.name}` }).click();
  const selling = page.getByRole("dialog", { name: `Sell GPUs of ${node.name} as spot` });
  await selling.getByLabel("GPU 2").uncheck();
  await selling.getByRole("button", { name: "Sell 1 GPU as spot" }).click();
  await selling.waitFor({ state: "detached" });
  await expect.poll(async () => (await live())?.releasedUnitIds?.length).toBe(1);
  await cell(page, node, 1)
    .and(page.getByRole("gridcell", { name: /sold as spot/ }))
    .waitFor();
  await cell(page, node, 2)
    .and(page.getByRole("gridcell", { name: /set aside/ }))
    .waitFor();

  await page.getByRole("button", { name: `End: 2 GPUs on ${node.name}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Give back 2 GPUs" }).click();
  await expect.poll(async () => (await live())?.status).toBe("cancelled");
});

it("reaffirms what needs a review after the node has changed", async () => {
  const node = await machine();
  await sold(node);
  const { admin } = world();
  const { units, name, siteId } = node;
  // The same GPUs in other groups: somebody has to look.
  await admin.fleet.putNodes({
    siteId,
    nodes: [
      {
        name,
        labels: { rack: "aside" },
        gpus: units.map(({ gpuUuid, index, model }) => ({
          uuid: gpuUuid ?? "",
          index,
          model: model ?? "",
          vfioGroup: String(index + 100),
        })),
      },
    ],
  });
  const page = await fleet(`/fleet?q=${name}`);
  await action(page, "Reaffirm", node).click();
  const dialog = page.getByRole("dialog", { name: `Reaffirm for ${name} as it is now` });
  await dialog.getByText("4 GPUs stay set aside").waitFor();
  await dialog.getByRole("button", { name: "Reaffirm 4 GPUs" }).click();
  await dialog.waitFor({ state: "detached" });
  const [now] = await admin.unitReservations.list({ nodeId: node.id }).toArray({ limit: 1 });
  expect(now?.status).toBe("active");
});

it("plans maintenance by what it would do, and calls it off", async () => {
  const node = await machine();
  const running = await bookUnit(node, 0, { spot: false });
  const page = await fleet(`/fleet?q=${node.name}`);
  await cell(page, node, 0).click();
  const detail = page.getByRole("region", { name: `Node ${node.name}` });
  await detail.getByRole("button", { name: "Plan maintenance" }).click();
  const dialog = page.getByRole("alertdialog", { name: `Take ${node.name} out of service` });
  await dialog.getByText("1 booking stays on the node, degraded").waitFor();
  await dialog.getByRole("button", { name: `Copy the id ${running.id}` }).waitFor();
  // Another window, another plan: after its end nothing is touched.
  const year = new Date().getFullYear() + 1;
  await dialog.getByLabel(/^To/).fill(`${year}-02-01T12:00`);
  await dialog.getByLabel(/^From/).fill(`${year}-02-01T08:00`);
  await dialog.getByRole("button", { name: "Plan maintenance, no booking is touched" }).click();
  await dialog.waitFor({ state: "detached" });
  await detail.getByText(new RegExp(`1 Feb ${year} 08:00 – 12:00 CET`)).waitFor();
  await detail.getByRole("button", { name: "Call off" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Call off the maintenance" }).click();
  await detail.getByText("None is planned.").waitFor();
  expect((await nodeOf(node)).maintenance).toEqual([]);
});

it("says what a state does to bookings before it is set", async () => {
  const node = await machine();
  await bookUnit(node, 0, { spot: false });
  await bookUnit(node, 1, { start: Date.now() + HOUR, spot: false });
  const page = await fleet(`/fleet?q=${node.name}`);
  await cell(page, node, 0).click();
  const detail = page.getByRole("region", { name: `Node ${node.name}` });
  await detail.getByRole("button", { name: "Set state" }).click();
  const dialog = page.getByRole("alertdialog", { name: `State of ${node.name}` });
  await dialog.getByText("1 running booking stays, flagged degraded").waitFor();
  await dialog.getByText("1 coming booking goes elsewhere").waitFor();
  await dialog.getByLabel("State").selectOption("unreachable");
  await dialog.getByRole("button", { name: `Set ${node.name} to unreachable` }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await nodeOf(node)).state).toBe("unreachable");
  await page.getByRole("row", { name: new RegExp(`${node.name}.*unreachable`) }).waitFor();
});

it("marks GPUs faulty and sound again", async () => {
  const node = await machine();
  const page = await fleet(`/fleet?q=${node.name}`);
  await cell(page, node, 3).click();
  const detail = page.getByRole("region", { name: `Node ${node.name}` });
  await detail.getByRole("button", { name: "Mark faulty" }).click();
  await page.getByRole("gridcell", { name: `GPU 3 on ${node.name}: down` }).waitFor();
  await detail.getByRole("button", { name: "Mark sound" }).click();
  await page.getByRole("gridcell", { name: `GPU 3 on ${node.name}: free` }).waitFor();
});

it("the owner sells and takes back, and sees why only the operator sets aside", async () => {
  const node = await machine();
  await sold(node);
  const key = { tenantId: "lab", role: "tenant-admin", name: "owner" } as const;
  const { secret } = await world().admin.access.createKey(key);
  const page = await fleet(`/fleet?q=${node.name}`, secret);
  await action(page, "End", node).waitFor();
  expect(await action(page, "End", node).getAttribute("aria-disabled")).toBe("true");
  await cell(page, node, 0).click();
  const setAside = page.getByRole("button", { name: /^Set 1 GPU aside/ });
  expect(await setAside.getAttribute("aria-disabled")).toBe("true");
  await page
    .getByText("Only the operator of the fleet may do this")
    .first()
    .waitFor({ state: "attached" });
  await action(page, "Take back", node).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name: "Take back, nothing ends" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect
    .poll(() => action(page, "Take back", node).getAttribute("aria-disabled"))
    .toBe("true");
});

it("the operator's page hears of the owner's machines as it happens", async () => {
  const node = await machine();
  const page = await fleet(`/fleet?q=${node.name}`);
  await page.getByRole("gridcell", { name: `GPU 0 on ${node.name}: free` }).waitFor();
  const key = { tenantId: "lab", role: "tenant-admin", name: "live" } as const;
  const { secret } = await world().admin.access.createKey(key);
  const owner = createBerth({ url: world().url, token: secret });
  await owner.fleet.setNodeState({ nodeId: node.id, state: "unhealthy" });
  await page
    .getByRole("gridcell", { name: `GPU 0 on ${node.name}: down` })
    .waitFor({ timeout: 3_000 });
});

it("an admin makes a first site, and then a pool on it", async () => {
  const { admin } = world();
  await admin.fleet.putTenant({ tenantId: "fresh" });
  const key = { tenantId: "fresh", role: "tenant-admin", name: "first" } as const;
  const { secret } = await admin.access.createKey(key);
  const page = await fleet("/fleet", secret);
  await page.getByText("fresh has no sites").waitFor();
  await page.getByRole("button", { name: "New site" }).click();
  const dialog = page.getByRole("dialog", { name: "New site of fresh" });
  await dialog.getByLabel("Name").fill("hall 1");
  await dialog.getByLabel("Region").fill("eu-north");
  await dialog.getByRole("button", { name: "Make the site" }).click();
  await page.getByText("0 nodes in hall 1, eu-north, of fresh.").waitFor();
  await page.getByText("No machines yet").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Pools" }).click();
  await page.getByRole("button", { name: "New pool" }).click();
  const form = page.getByRole("dialog", { name: "New pool" });
  expect(await form.getByLabel("Site").locator("option").allTextContents()).toEqual(["hall 1"]);
});

it("a tenant without machines is told where those of others are", async () => {
  const page = await fleet("/fleet", world().token("vision"));
  await page.getByText("vision has no sites").waitFor();
});
