/** Machines come and go: registered from a report or by hand, moved between pools, removed; and bookings are terminated. */
import type { NodeSchedule, Reservation } from "@berth/client";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { overhang, seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();
let siteId = "";
let owner = "";

beforeAll(async () => {
  const { admin } = world();
  ({ siteId } = await admin.pools.get({ tenantId: "lab", poolId: world().pool("H100") }));
  const key = { tenantId: "lab", role: "tenant-admin", name: "machines" } as const;
  owner = (await admin.access.createKey(key)).secret;
});

const gpus = (name: string, count = 2) =>
  Array.from({ length: count }, (_, index) => ({
    uuid: `GPU-${name}-${index}`,
    index,
    model: "NVIDIA-H100-80GB-HBM3",
  }));

async function nodes(): Promise<NodeSchedule[]> {
  return world().admin.fleet.listNodes({ tenantId: "lab", siteId }).toArray({ limit: 500 });
}

async function nodeNamed(name: string): Promise<NodeSchedule | undefined> {
  return (await nodes()).find((node) => node.name === name);
}

async function put(name: string, poolId?: string): Promise<NodeSchedule> {
  const { admin } = world();
  await admin.fleet.putNodes({
    siteId,
    nodes: [{ name, gpus: gpus(name) }],
    ...(poolId === undefined ? {} : { poolId }),
  });
  const made = await nodeNamed(name);
  if (!made) throw new Error("the node is not there");
  return made;
}

async function bookOn(node: NodeSchedule): Promise<Reservation> {
  return world()
    .as()
    .reservations.create({
      tenantId: "vision",
      poolId: node.poolId ?? "",
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [node.units[0]?.id ?? ""] } }],
      duration: "5h",
    });
}

async function page(path: string, token = owner): Promise<Page> {
  const opened = await open(path, { token });
  await settled(opened.page);
  return opened.page;
}

async function detailOf(node: NodeSchedule) {
  const shown = await page(`/fleet?site=${siteId}&q=${node.name}&node=${node.id}`);
  return { page: shown, detail: shown.getByRole("region", { name: `Node ${node.name}` }) };
}

describe("registering", () => {
  it("takes a report, says what is wrong with it where, and what it would do", async () => {
    await put("reported-1");
    const shown = await page(`/fleet?site=${siteId}`);
    await shown.getByRole("button", { name: "Register machines" }).click();
    const dialog = shown.getByRole("dialog", { name: /^Register machines at/ });
    const report = dialog.getByLabel("Report", { exact: true });
    const wrong = dialog.getByRole("status", { name: "What is wrong with the report" });
    await report.fill("{");
    await wrong.getByText(/^This is no JSON/).waitFor();
    await report.fill(JSON.stringify({ nodes: [{ name: "a" }, { name: "a" }, {}] }));
    await wrong.getByText("nodes[1].name", { exact: true }).waitFor();
    await wrong.getByText("A node has a name.").waitFor();
    expect(await report.getAttribute("aria-invalid")).toBe("true");
    expect(await seriousFindings(shown)).toEqual([]);
    expect(
      await dialog.getByRole("button", { name: "No plan yet" }).getAttribute("aria-disabled"),
    ).toBe("true");

    // One GPU of the first is reported no longer; the second is new.
    const named = [
      { name: "reported-1", gpus: gpus("reported-1", 1) },
      { name: "reported-2", gpus: gpus("reported-2") },
    ];
    await dialog.getByLabel("File").setInputFiles({
      name: "fleet.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ nodes: named })),
    });
    await dialog.getByText("1 GPU reported no longer: bookings on them stay, degraded").waitFor();
    await dialog.getByText("1 new machine").waitFor();
    expect(await nodeNamed("reported-2")).toBe(undefined);
    await dialog.getByRole("button", { name: "Register 2 machines" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await nodeNamed("reported-2"))?.units).toHaveLength(2);
  });

  it("shows what only the server finds wrong, field by field, and registers nothing", async () => {
    const shown = await page(`/fleet?site=${siteId}`);
    await shown.getByRole("button", { name: "Register machines" }).click();
    const dialog = shown.getByRole("dialog", { name: /^Register machines at/ });
    const wrong = [{ name: "refused", vcpu: -1, memoryGiB: "much" }];
    await dialog.getByLabel("Report", { exact: true }).fill(JSON.stringify(wrong));
    await dialog.getByRole("button", { name: "Register 1 machine" }).click();
    const alert = dialog.getByRole("alert");
    await alert.getByText("nodes[0].vcpu", { exact: true }).waitFor();
    await alert.getByText("nodes[0].memoryGiB", { exact: true }).waitFor();
    // No plan that was refused stands there as if it could be carried out.
    const button = dialog.getByRole("button", { name: /^Register 1 machine/ });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await dialog.getByText("1 new machine").count()).toBe(0);
    await dialog.getByLabel("Report", { exact: true }).fill(JSON.stringify([{ name: "refused" }]));
    await dialog.getByText("1 new machine").waitFor();
    expect(await alert.count()).toBe(0);
    expect(await button.getAttribute("aria-disabled")).toBe(null);
    expect(await nodeNamed("refused")).toBe(undefined);
  });

  it("says of an empty file that it is empty", async () => {
    const shown = await page(`/fleet?site=${siteId}`);
    await shown.getByRole("button", { name: "Register machines" }).click();
    const dialog = shown.getByRole("dialog", { name: /^Register machines at/ });
    const file = { name: "none.json", mimeType: "application/json", buffer: Buffer.from("") };
    await dialog.getByLabel("File").setInputFiles(file);
    await dialog.getByRole("alert").getByText("The file none.json is empty.").waitFor();
  });

  it("is refused before the server has to, where a GPU is on another machine already", async () => {
    await put("robbed");
    const shown = await page(`/fleet?site=${siteId}`);
    await shown.getByRole("button", { name: "Register machines" }).click();
    const dialog = shown.getByRole("dialog", { name: /^Register machines at/ });
    const thief = [{ name: "thief", gpus: gpus("robbed") }];
    await dialog.getByLabel("Report", { exact: true }).fill(JSON.stringify(thief));
    await dialog.getByText("on robbed", { exact: true }).waitFor();
    const button = dialog.getByRole("button", { name: /^Register 1 machine/ });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await dialog.getByText("1 new machine").count()).toBe(0);
  });

  it("takes one machine by hand, into a pool", async () => {
    const poolId = world().pool("H100");
    const shown = await page(`/fleet?site=${siteId}`);
    await shown.getByRole("button", { name: "Register machines" }).click();
    const dialog = shown.getByRole("dialog", { name: /^Register machines at/ });
    await dialog.getByLabel("One machine").check();
    await dialog.getByLabel("Name", { exact: true }).fill("by-hand");
    await dialog.getByLabel("Rack").fill("r9");
    await dialog.getByLabel("GPU UUIDs").fill("GPU-hand-0\nGPU-hand-1");
    await dialog.getByText("Say which model its GPUs are.").first().waitFor({ state: "attached" });
    await dialog.getByLabel("GPU model").fill("NVIDIA-H100-80GB-HBM3");
    await dialog.getByLabel("Pool").selectOption(poolId);
    expect(await seriousFindings(shown)).toEqual([]);
    await dialog.getByRole("button", { name: "Register 1 machine" }).click();
    await dialog.waitFor({ state: "detached" });
    const made = await nodeNamed("by-hand");
    expect(made).toMatchObject({ poolId, labels: { rack: "r9" } });
    expect(made?.units.map(({ nvlinkDomain }) => nvlinkDomain)).toEqual(["by-hand", "by-hand"]);
  });

  it("is dead for who owns no machines, with the reason", async () => {
    const shown = await page("/fleet", world().token("vision"));
    const button = shown.getByRole("button", { name: /^Register machines/ });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await button.textContent()).toContain("Only an admin of the tenant may do this");
  });
});

describe("a node's pool", () => {
  it("is changed from the node, once nothing live holds its units", async () => {
    const node = await put("moving", world().pool("H100"));
    const booked = await bookOn(node);
    const { page: shown, detail } = await detailOf(node);
    await detail.getByRole("button", { name: "Change pool" }).click();
    const dialog = shown.getByRole("alertdialog", { name: "The pool of moving" });
    await dialog.getByLabel("Pool").selectOption({ label: "No pool" });
    const take = dialog.getByRole("button", { name: /^Take moving out of its pool/ });
    await dialog.getByText("2 GPUs of moving go from").waitFor();
    expect(await take.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByText("1 booking holds its units").first().waitFor({ state: "attached" });
    expect(await seriousFindings(shown)).toEqual([]);
    await world().as().reservations.release({ tenantId: "vision", reservationId: booked.id });
    // Of others' bookings the owner has no event: the page looks every ten seconds.
    await expect.poll(() => take.getAttribute("aria-disabled"), { timeout: 20_000 }).toBe(null);
    await take.click();
    await dialog.waitFor({ state: "detached" });
    await detail.getByText("In no pool: nobody can book it").waitFor();
    expect((await nodeNamed("moving"))?.poolId).toBe(null);
  });

  it("is changed from the pool, in and out", async () => {
    await put("shifting");
    const poolId = world().pool("H100");
    const shown = await page(`/pools/${poolId}`);
    await shown.getByRole("button", { name: "Machines", exact: true }).click();
    const list = shown.getByRole("dialog", { name: "Machines of the pool" });
    await list.getByLabel("Find a node").fill("shifting");
    expect(await seriousFindings(shown)).toEqual([]);
    await list.getByRole("button", { name: "Put in shifting" }).click();
    await shown.getByRole("button", { name: /^Put it in / }).click();
    await expect.poll(async () => (await nodeNamed("shifting"))?.poolId).toBe(poolId);
    await list.getByLabel("Find a node").fill("shifting");
    await list.getByRole("button", { name: "Take out shifting" }).click();
    await shown.getByRole("button", { name: "Take shifting out of its pool" }).click();
    await expect.poll(async () => (await nodeNamed("shifting"))?.poolId).toBe(null);
  });

  it("is none of a guest's business, and the button says so", async () => {
    const shown = await page(`/pools/${world().pool("H100")}`, world().token("vision"));
    const button = shown.getByRole("button", { name: /^Machines/ });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
  });
});

it("a node leaves the fleet, with what goes with it in sight", async () => {
  const node = await put("leaving");
  const { page: shown, detail } = await detailOf(node);
  await detail.getByRole("button", { name: "Remove from the fleet" }).click();
  const dialog = shown.getByRole("alertdialog", { name: "Remove leaving from the fleet" });
  await dialog.getByText("2 GPUs of leaving leave the fleet").waitFor();
  expect(await seriousFindings(shown)).toEqual([]);
  await dialog.getByRole("button", { name: "Remove leaving and 2 GPUs" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await nodeNamed("leaving")).toBe(undefined);
});

it("a node that is held stays, and what holds it is shown as what is in the way", async () => {
  const node = await put("held", world().pool("H100"));
  await bookOn(node);
  const { page: shown, detail } = await detailOf(node);
  await detail.getByRole("button", { name: "Remove from the fleet" }).click();
  const dialog = shown.getByRole("alertdialog", { name: "Remove held from the fleet" });
  await dialog.getByRole("heading", { name: "In the way: 1 booking" }).waitFor();
  const button = dialog.getByRole("button", { name: /^Remove held/ });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
});

describe("terminating", () => {
  const current = ({ id }: Reservation): Promise<Reservation> =>
    world().as().reservations.get({ tenantId: "vision", reservationId: id });

  it("an operator ends a booking from its facts, with a reason that its tenant reads", async () => {
    const booked = await bookOn(await put("ending-1", world().pool("H100")));
    const shown = await page(`/reservations?tenant=vision&rsv=${booked.id}`, world().adminToken);
    await shown.getByRole("button", { name: "Terminate", exact: true }).click();
    const dialog = shown.getByRole("alertdialog", { name: "Terminate this reservation" });
    await dialog.getByText("1 GPU of vision: ends now").waitFor();
    const button = dialog.getByRole("button", { name: /^Terminate 1 GPU/ });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByLabel("Reason").fill("The rack is moved");
    expect(await seriousFindings(shown)).toEqual([]);
    await button.click();
    await dialog.waitFor({ state: "detached" });
    expect(await current(booked)).toMatchObject({
      state: "terminated",
      endReason: "The rack is moved",
    });
  });

  it("the owner of the pool ends one by its id, and learns nothing of it", async () => {
    const booked = await bookOn(await put("ending-2", world().pool("H100")));
    const shown = await page(`/pools/${world().pool("H100")}`);
    await shown.getByRole("button", { name: "Terminate a booking" }).click();
    const dialog = shown.getByRole("alertdialog", { name: "Terminate a booking" });
    await dialog.getByLabel("Booking").fill(booked.id);
    await dialog.getByLabel("Reason").fill("Broken contract");
    await dialog.getByText("what it holds is not told to you").waitFor();
    expect(await dialog.textContent()).not.toContain("vision");
    await dialog.getByRole("button", { name: /^Terminate rsv_…/ }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await current(booked)).state).toBe("terminated");
  });

  it("is dead for who booked and owns no pool", async () => {
    const booked = await bookOn(await put("ending-3", world().pool("H100")));
    const shown = await page(`/reservations?rsv=${booked.id}`, world().token("vision"));
    const button = shown.getByRole("button", { name: /^Terminate/ });
    await button.waitFor();
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await button.textContent()).toContain("Only the owner of the pool may do this");
  });
});

describe("at 375 px", () => {
  it("the dialogs stay within the screen", async () => {
    const node = await put("narrow", world().pool("H100"));
    const opened = await open(`/fleet?site=${siteId}&q=narrow&node=${node.id}`, {
      token: owner,
      width: 375,
    });
    const shown = opened.page;
    await settled(shown);
    for (const name of ["Register machines", "Change pool", "Remove from the fleet"]) {
      await shown.getByRole("button", { name, exact: true }).click();
      const dialog = shown.getByRole("dialog").or(shown.getByRole("alertdialog"));
      await dialog.waitFor();
      const box = await dialog.boundingBox();
      expect(box?.width).toBeLessThanOrEqual(375);
      expect(await dialog.evaluate((at) => at.scrollWidth - at.clientWidth)).toBe(0);
      expect(await overhang(shown)).toBe(0);
      await dialog.getByRole("button", { name: "Cancel" }).click();
    }
  });
});
