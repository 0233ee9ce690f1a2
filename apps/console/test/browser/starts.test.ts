/** The start of a booking: the form asks for what its field shows, and for nothing that nobody said. */
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { settled, stage } from "./kit.ts";

const { open } = stage();

/** Types it part by part, as the field takes it. */
async function typeDate(page: Page, digits: string): Promise<void> {
  await page.getByRole("spinbutton", { name: /^day/ }).focus();
  await page.keyboard.type(digits);
}

const bookButton = (page: Page) => page.getByRole("button", { name: /^Book/ });

it("a day that does not exist is said at its field, and nothing else is asked for", async () => {
  const { page } = await open(`/book?gpus=1&for=1h&start=${Date.now() + 3_600_000}`);
  await settled(page);
  await page.getByRole("button", { name: /^Book 1 GPU, / }).waitFor();
  await typeDate(page, "3102");
  await page
    .getByRole("alert")
    .getByText(/^31\/02\/\d+ does not exist\.$/)
    .waitFor();
  await page.keyboard.type("20271000");
  await page.getByRole("alert").getByText("31/02/2027 does not exist.").waitFor();
  const dead = page.getByRole("button", { name: /^Book 1 GPU(?!,)/ });
  expect(await dead.getAttribute("aria-disabled")).toBe("true");
  await page.getByText("As soon as the form is complete.").waitFor();
  // The field puts the nearest day in as it is left: that is the person's to take.
  await page.getByLabel("For", { exact: true }).focus();
  await page.getByText("31/02/2027 does not exist.").first().waitFor();
  expect(await dead.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: /^Take Sun 28 Feb 2027 10:00 CET$/ }).click();
  await page.getByRole("button", { name: /^Book 1 GPU, Sun 28 Feb 2027 10:00 CET/ }).waitFor();
  expect(await page.getByText("does not exist").count()).toBe(0);
});

it("a start of the link that cannot be read is said, and nothing is booked before one is chosen", async () => {
  const { page } = await open("/book?gpus=1&for=1h&start=2027-03-28T02:30");
  await settled(page);
  await page
    .getByRole("alert")
    .getByText(/could not be read: 2027-03-28T02:30\. The start is now/)
    .waitFor();
  expect(await bookButton(page).getAttribute("aria-disabled")).toBe("true");
  expect(new URL(page.url()).searchParams.get("start")).toBe("2027-03-28T02:30");
  await page.getByRole("radio", { name: "Now" }).check();
  await page.getByRole("button", { name: "Book 1 GPU, now" }).waitFor();
  expect(await page.getByText("could not be read").count()).toBe(0);
});

it("an instant with its zone is taken from the link", async () => {
  const start = new Date(Math.ceil(Date.now() / 3_600_000 + 24) * 3_600_000).toISOString();
  const { page } = await open(`/book?gpus=1&for=1h&start=${start}`);
  await settled(page);
  await page.getByRole("button", { name: /^Book 1 GPU, \w+ \d+ \w+ / }).waitFor();
  await expect
    .poll(() => new URL(page.url()).searchParams.get("start"))
    .toBe(String(Date.parse(start)));
});
