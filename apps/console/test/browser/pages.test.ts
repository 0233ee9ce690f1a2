/** Every page in every light: nothing that keeps somebody out, nothing that leaves the screen, nothing that is refused. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { overhang, seriousFindings, settled, stage } from "./kit.ts";

const { world, open } = stage();

/** Each page by its heading; the pool's is the pool's name. */
const PAGES: readonly (readonly [string, () => string])[] = [
  ["Overview", () => "/"],
  ["Pools", () => "/pools"],
  ["NVIDIA-H100-80GB-HBM3", () => `/pools/${world().pool("H100")}`],
  ["Book", () => "/book?gpus=8"],
  ["Book", () => "/book?gpus=64&together=rack"],
  ["Reservations", () => "/reservations"],
  ["Reservations", () => "/reservations?view=table&state=all"],
  ["Fleet", () => "/fleet"],
  ["Activity", () => "/activity"],
];

/** The operator of the fleet sees the most of each page. */
async function openAs(
  path: string,
  options: object,
): Promise<{ page: Page; complaints: readonly string[] }> {
  const separator = path.includes("?") ? "&" : "?";
  const opened = await open(`${path}${separator}tenant=lab`, {
    token: world().adminToken,
    ...options,
  });
  await settled(opened.page);
  return opened;
}

describe.each(["light", "dark"] as const)("in %s", (scheme) => {
  it.each(PAGES)(
    "%s has no serious finding, and its policy refused nothing",
    async (name, path) => {
      const { page, complaints } = await openAs(path(), { scheme });
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );
});

describe("at 375 px", () => {
  it.each(PAGES)("%s stays within the screen", async (name, path) => {
    const { page } = await openAs(path(), { width: 375 });
    await page.getByRole("heading", { level: 1, name }).waitFor();
    expect(await overhang(page)).toBe(0);
  });

  it("every page is two presses away", async () => {
    const { page } = await openAs("/", { width: 375 });
    for (const name of ["Pools", "Book", "Reservations", "Fleet", "Activity", "Overview"]) {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
    }
  });
});

it("an address that leads nowhere says so, inside the rooms", async () => {
  const { page } = await openAs("/", {});
  // The server knows the pages; only the page's own links could lead astray.
  const answer = await page.request.get(`${world().url}/nowhere`);
  expect(answer.status()).toBe(404);
});

it("a pool that is not there is said to be none, with what to do about it", async () => {
  const { page } = await openAs(`/pools/pool_${"0".repeat(52)}`, {});
  await page.getByText("This tenant neither owns it nor is offered it").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Pools" }).waitFor();
});

it("what a role does not allow is an error of its part, with the request to quote", async () => {
  const { page } = await open("/activity", {});
  const failed = page.getByRole("alert");
  await failed
    .or(page.getByText(/^Only /))
    .first()
    .waitFor();
  await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
});

it("an operator, who owns no pools, is led to the machines and to those that own them", async () => {
  const { page } = await open("/", { token: world().adminToken });
  await settled(page);
  const main = page.getByRole("main");
  await main.getByRole("heading", { name: "You run the fleet" }).waitFor();
  await main.getByRole("link", { name: "To the machines" }).waitFor();
  // Those who only book own no machines.
  expect(await main.getByRole("button", { name: "vision" }).count()).toBe(0);
  await main.getByRole("button", { name: "lab" }).waitFor();
  await page.getByRole("button", { name: "lab" }).click();
  await page.getByRole("heading", { level: 2, name: "By pool" }).waitFor();
  expect(new URL(page.url()).searchParams.get("tenant")).toBe("lab");
});
