/** What is wrong is said in the words of the page, at its field, and once it is over as over. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();

it("what the server refuses of a new pool is said at its field", async () => {
  const { page } = await open("/pools?tenant=lab", { token: world().adminToken });
  await settled(page);
  await page.getByRole("button", { name: "New pool" }).click();
  const dialog = page.getByRole("dialog", { name: "New pool" });
  const model = dialog.getByLabel("GPU model");
  await model.fill("x".repeat(200));
  await dialog.getByRole("button", { name: "Make the pool" }).click();
  await dialog.getByText(/^Must have at most \d+ characters\.$/).waitFor();
  expect(await model.getAttribute("aria-invalid")).toBe("true");
  expect(await dialog.getByText("gpuModel").count()).toBe(0);
});

it("an address of no pool says that there is none, and offers no second try", async () => {
  const { page } = await open("/pools/h100");
  await page.getByRole("heading", { name: "There is no such pool here" }).waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  expect(await page.getByText("poolId").count()).toBe(0);
});

it("an extension by nothing is refused at its field, and a release of what is over says that it is", async () => {
  const berth = world().as();
  const made = await berth.reservations.create({
    tenantId: "vision",
    poolId: world().pool("T4"),
    devices: [{ class: "gpu", count: 1 }],
    duration: "4h",
  });
  const { page } = await open(`/reservations?view=table&rsv=${made.id}`);
  await settled(page);
  const panel = page.getByRole("complementary", { name: "Facts of the reservation" });
  await panel.getByRole("button", { name: "Extend" }).click();
  const length = panel.getByLabel("Longer by");
  for (const none of ["0h", "-1h"]) {
    await length.fill(none);
    await panel
      .getByText(/^A length is more than nothing/)
      .first()
      .waitFor();
    expect(await panel.getByText("Asking whether that fits").count()).toBe(0);
  }
  await panel.getByRole("button", { name: "Release" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Release this reservation" });
  await dialog.getByText("what runs on it is cut off").waitFor();
  await berth.reservations.release({ tenantId: "vision", reservationId: made.id });
  await dialog.getByRole("heading", { name: /It is over already: released/ }).waitFor();
  expect(await dialog.getByText("what runs on it is cut off").count()).toBe(0);
});
