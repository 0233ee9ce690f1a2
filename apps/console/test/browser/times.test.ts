/** Times as they are typed and said: clocks that change, other years, windows in the past. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();

/** The last Sunday of March and of October: Berlin's clocks go from 02:00 to 03:00, and from 03:00 to 02:00. */
function changeOfClocks(month: 2 | 9): number {
  const now = new Date();
  const lastSunday = (year: number): number => {
    const end = new Date(Date.UTC(year, month + 1, 0));
    return Date.UTC(year, month, end.getUTCDate() - end.getUTCDay(), 1);
  };
  const year = now.getUTCFullYear();
  return lastSunday(year) > now.getTime() ? lastSunday(year) : lastSunday(year + 1);
}

const HALF_HOUR = 1_800_000;

it("a time that the clocks skip stays as it was typed, and what is taken is said", async () => {
  const change = changeOfClocks(2);
  const { page } = await open(`/book?gpus=1&for=1h&start=${change - HALF_HOUR}`);
  await page.getByRole("spinbutton", { name: /^hour/ }).press("2");
  await page.getByText(/^02:30 does not exist on Sun .*Taken is 03:30 CEST\.$/).waitFor();
  expect(Number(await page.getByRole("spinbutton", { name: /^hour/ }).textContent())).toBe(2);
  expect(new URL(page.url()).searchParams.get("start")).toBe(String(change + HALF_HOUR));
  await page.getByRole("button", { name: /^Book 1 GPU, Sun .* 03:30 CEST/ }).waitFor();
});

it("of a time that comes twice it is said which one is taken, and the other is one press away", async () => {
  const change = changeOfClocks(9);
  const { page } = await open(`/book?gpus=1&for=1h&start=${change - 3 * HALF_HOUR}`);
  await page.getByRole("spinbutton", { name: /^hour/ }).press("2");
  await page.getByText(/^02:30 comes twice on Sun .* the first, in CEST\.$/).waitFor();
  await page.getByRole("button", { name: "Take the second, in CET" }).click();
  await page.getByText(/ the second, in CET\.$/).waitFor();
  expect(new URL(page.url()).searchParams.get("start")).toBe(String(change + HALF_HOUR));
  await page.getByRole("button", { name: "Take the first, in CEST" }).waitFor();
});

it("the verdict names the year when it is another one", async () => {
  // As far ahead as may be booked: nearly always in the next year.
  const start = Date.now() + 365.5 * 86_400_000;
  const year = new Date(start).getFullYear();
  const { page } = await open(`/book?pool=${world().pool("T4")}&gpus=1&for=1h&start=${start}`);
  const verdict = page.getByRole("region", { name: "The pool" });
  await verdict.getByText(new RegExp(`^\\w+ \\d+ \\w+ ${year} \\d\\d:\\d\\d –`)).waitFor();
});

it("maintenance that would be over is said at its field; what has begun begins at once", async () => {
  const { nodes } = await world().admin.fleet.listNodes({ tenantId: "lab", limit: 1 });
  const { name = "" } = nodes[0] ?? {};
  const { page } = await open(`/fleet?q=${name}`, { token: world().adminToken });
  await settled(page);
  const grid = page.getByRole("gridcell", { name: new RegExp(`^GPU 0 on ${name}`) });
  await grid.click();
  const detail = page.getByRole("region", { name: `Node ${name}` });
  await detail.getByRole("button", { name: "Plan maintenance" }).click();
  const dialog = page.getByRole("alertdialog", { name: `Take ${name} out of service` });
  await dialog.getByLabel(/^From/).fill("2026-01-01T08:00");
  const begin = dialog.getByRole("button", { name: /^Begin maintenance now/ });
  await begin.waitFor();
  await dialog.getByText("the node goes out of service at once").waitFor();
  await dialog.getByLabel(/^To/).fill("2026-01-01T12:00");
  await dialog.getByText("It would be over already").first().waitFor();
  expect(await begin.count()).toBe(0);
  // A day that does not exist is no value to the browser, and no empty field to the person.
  await dialog.getByLabel(/^To/).focus();
  await page.keyboard.type("0231");
  await dialog.getByText("There is no such date.").waitFor();
  expect(await dialog.getByRole("button", { name: /^Begin maintenance/ }).count()).toBe(0);
});
