/** Bookings of others, as the owner of a pool, an operator and a guest see them: what may be known, or why it is not. */
import type { NodeSchedule } from "@berth/client";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();

interface Taken {
  readonly id: string;
  readonly poolId: string;
  readonly node: NodeSchedule;
  readonly index: number;
}

/** A GPU that robotics has booked in the lab's pool. */
async function taken(): Promise<Taken> {
  const poolId = world().pool("L40S");
  const { id, members } = await world()
    .as("robotics")
    .reservations.create({
      tenantId: "robotics",
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "5h",
    });
  const { nodeId = "", atoms = [] } = members?.[0] ?? {};
  const node = await world().admin.fleet.getNode({ tenantId: "lab", nodeId });
  return { id, poolId, node: { ...node } as NodeSchedule, index: atoms[0]?.index ?? -1 };
}

/** The key of an admin of the lab, who owns the pools and has no role on those who book in them. */
async function ownersToken(): Promise<string> {
  const { secret } = await world().admin.access.createKey({
    tenantId: "lab",
    role: "tenant-admin",
    name: `owner-${Date.now()}`,
  });
  return secret;
}

async function chooseOn(page: Page, { node, index }: Taken): Promise<void> {
  await settled(page);
  await page.getByRole("gridcell", { name: `GPU ${index} on ${node.name}: booked` }).click();
}

it("the owner of the pool who chooses another's GPU is told what may be known, and may end it by its id", async () => {
  const booked = await taken();
  const token = await ownersToken();
  const { page } = await open(`/pools/${booked.poolId}`, { token });
  await chooseOn(page, booked);
  const facts = page.getByRole("region", { name: "The chosen GPU" });
  await facts.getByText(`GPU ${booked.index} on ${booked.node.name}: booked until`).waitFor();
  await facts.getByText("told to that tenant alone, to the owner of the pool neither").waitFor();
  await facts.getByRole("button", { name: "Terminate a booking" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Terminate a booking" });
  await dialog.getByLabel("Booking").fill(booked.id);
  await dialog.getByLabel("Reason").fill("its rack is moved");
  await dialog.getByText("so what it holds is not told to you").waitFor();
  await dialog.getByRole("button", { name: /^Terminate rsv_/ }).click();
  await dialog.waitFor({ state: "detached" });
  const ref = { tenantId: "robotics", reservationId: booked.id };
  expect((await world().as("robotics").reservations.get(ref)).state).toBe("terminated");
});

it("the address of another's booking says why there is nothing to see, and what its owner may do", async () => {
  const { id } = await taken();
  const { page } = await open(`/?rsv=${id}`, { token: await ownersToken() });
  const facts = page.getByRole("complementary", { name: "Facts of the reservation" });
  await facts.getByText("No tenant that you may read has this reservation.").waitFor();
  await facts.getByRole("button", { name: "Terminate it" }).click();
  await page.getByRole("alertdialog", { name: "Terminate this reservation" }).waitFor();
});

it("an operator is led from a GPU, and from an address, to the booking of the tenant that has it", async () => {
  const booked = await taken();
  const token = world().adminToken;
  const { page } = await open(`/pools/${booked.poolId}?tenant=lab`, { token });
  await chooseOn(page, booked);
  const facts = page.getByRole("region", { name: "The chosen GPU" });
  await facts.getByRole("link", { name: "Show it as robotics" }).click();
  const panel = page.getByRole("complementary", { name: "Facts of the reservation" });
  await panel.getByRole("button", { name: "Release" }).waitFor();
  expect(new URL(page.url()).searchParams.get("tenant")).toBe("robotics");

  const elsewhere = await open(`/?tenant=lab&rsv=${booked.id}`, { token });
  await elsewhere.page.getByRole("link", { name: "Show it as robotics" }).click();
  await elsewhere.page
    .getByRole("complementary", { name: "Facts of the reservation" })
    .getByRole("button", { name: "Release" })
    .waitFor();
});

it("who is offered the pool is told the time and no more, and why nothing can be done", async () => {
  const booked = await taken();
  const { page } = await open(`/pools/${booked.poolId}`);
  await chooseOn(page, booked);
  const facts = page.getByRole("region", { name: "The chosen GPU" });
  await facts.getByText("no more than its time is told").waitFor();
  const dead = facts.getByRole("button", { name: /^Terminate a booking/ });
  expect(await dead.getAttribute("aria-disabled")).toBe("true");
  await page.reload();
  await facts.getByText("no more than its time is told").waitFor();
});
