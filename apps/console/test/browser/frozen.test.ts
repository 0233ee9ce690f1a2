/** A server that does not answer: a press says that it is asking, and then what became of it. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();

it("a press that gets no answer says so: nothing is booked, and it can be pressed again", async () => {
  const { page } = await open(`/book?pool=${world().pool("T4")}&gpus=1&for=1h`);
  await settled(page);
  const button = page.getByRole("button", { name: "Book 1 GPU, now" });
  await button.waitFor();
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("reservations.create")) sent.push(request.url());
  });
  let thaw = (): void => undefined;
  const frozen = new Promise<void>((resolve) => (thaw = resolve));
  await page.route(/reservations\.quote/, async (route) => {
    await frozen;
    // The page has given it up by then.
    await route.continue().catch(() => undefined);
  });
  await button.click();
  await page.getByRole("button", { name: "Asking…" }).waitFor();
  await page.getByRole("status").getByText("Asking the server: Book 1 GPU, now.").waitFor();
  await page
    .getByRole("alert")
    .getByText(/Nothing was booked; the button can be pressed again\.$/)
    .waitFor();
  expect(sent).toEqual([]);
  thaw();
  await page.unroute(/reservations\.quote/);
  await button.click();
  await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  expect(sent).toHaveLength(1);
});

it("while it is tried whether it fits the button says so in sight", async () => {
  const { page } = await open(`/book?pool=${world().pool("T4")}&gpus=1&for=1h`);
  await settled(page);
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/reservations\.quote/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel("For", { exact: true }).fill("2h");
  await page.getByRole("status").getByText("It is being tried whether it fits.").waitFor();
  answer();
  await expect.poll(() => page.getByRole("status").getByText("It is being tried").count()).toBe(0);
  expect(
    await page.getByRole("button", { name: "Book 1 GPU, now" }).getAttribute("aria-disabled"),
  ).toBeNull();
});
