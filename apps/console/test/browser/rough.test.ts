/** What people do that nobody planned for: double clicks, old links, addresses with nonsense in them. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();

it("a double click books once", async () => {
  const poolId = world().pool("T4");
  const { page } = await open(`/book?pool=${poolId}&gpus=1&for=2h`);
  await settled(page);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("reservations.create")) asked.push(request.url());
  });
  const answered = page.waitForResponse(/reservations\.create/);
  await page.getByRole("button", { name: "Book 1 GPU, now" }).dblclick();
  await answered;
  await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  await settled(page);
  expect(asked).toHaveLength(1);
  const made = await world().as().reservations.list({ tenantId: "vision" }).toArray({ limit: 100 });
  expect(
    made.filter((one) => one.poolId === poolId && one.end - one.start === 7_200_000),
  ).toHaveLength(1);
});

it("whoever presses again because no answer came gets what the first press booked", async () => {
  const poolId = world().pool("T4");
  const { page } = await open(`/book?pool=${poolId}&gpus=1&for=3h`);
  await settled(page);
  // The request arrives and is carried out; its answer is lost on the way.
  await page.route(
    /reservations\.create/,
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    },
    { times: 1 },
  );
  const button = page.getByRole("button", { name: "Book 1 GPU, now" });
  await button.click();
  const facts = page.getByRole("complementary", { name: "Facts of the reservation" });
  const failed = page.getByRole("alert");
  await facts.or(failed).first().waitFor();
  // The client tries again by itself; where it has given up the person does.
  if (!(await facts.isVisible())) await button.click();
  await facts.waitFor();
  const made = await world().as().reservations.list({ tenantId: "vision" }).toArray({ limit: 100 });
  expect(
    made.filter((one) => one.poolId === poolId && one.end - one.start === 10_800_000),
  ).toHaveLength(1);
});

it("books on a page that came over plain HTTP, which browsers give less to", async () => {
  const poolId = world().pool("T4");
  const { page } = await open("/");
  await page.addInitScript("delete Crypto.prototype.randomUUID");
  await page.goto(`${world().url}/book?pool=${poolId}&gpus=1&for=5h`);
  await page.getByRole("button", { name: "Book 1 GPU, now" }).click();
  await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
});

it("a link to a pool that is not there says so, and books nowhere else", async () => {
  const gone = `pool_${"0".repeat(26)}`;
  const { page } = await open(`/book?gpus=2&for=1h&pool=${gone}`);
  await page
    .getByRole("heading", {
      name: "The pool of this address is not there, or not yours to book in",
    })
    .waitFor();
  expect(await page.getByRole("button", { name: /^Book 2 GPUs/ }).count()).toBe(0);
  expect(new URL(page.url()).searchParams.get("pool")).toBe(gone);
  await page
    .getByRole("button", { name: /^Book in/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Book 2 GPUs, now" }).waitFor();
});

it.each([
  ["/book?start=nextweek", "Book"],
  ["/book?start=9999-99-99T99:99", "Book"],
  ["/book?start=8640000000000001", "Book"],
  ["/book?together=moon", "Book"],
  ["/book?for=999999999999d", "Book"],
  ["/book?gpus=-3&spot=perhaps", "Book"],
  ["/reservations?from=zzz&to=-1&view=pie", "Reservations"],
  ["/reservations?from=1&to=9e15", "Reservations"],
  ["/pools?sharing=7", "Pools"],
  ["/activity?method=%00", "Activity"],
  ["/?rsv=5&tenant=6", "Overview"],
])("%s shows its page", async (path, name) => {
  const { page } = await open(path);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  expect(await page.getByText("This did not work").count()).toBe(0);
});

it.each(["/pools/a/b", "/no/such/page", "/index.html"])(
  "%s leads nowhere, says the console's own page, and is a 404 all the same",
  async (path) => {
    const { page } = await open("/");
    const answer = await page.goto(world().url + path);
    expect(answer?.status()).toBe(404);
    await page.getByText("There is no such page").waitFor();
    await page.getByRole("link", { name: "To the overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  },
);

it("a length that nothing can be booked for is said at its field, and the form stays", async () => {
  const { page } = await open("/book?gpus=1");
  await settled(page);
  const field = page.getByLabel("For", { exact: true });
  await field.fill("999999999999d");
  await page.getByText("At most 366d").first().waitFor();
  await field.fill("2h");
  await page.getByRole("button", { name: "Book 1 GPU, now" }).waitFor();
});

it("what cannot be tried says why on the button", async () => {
  const { page } = await open("/book?gpus=1&for=1h");
  await settled(page);
  await page.route(/reservations\.quote/, (route) => route.abort());
  await page.getByLabel("For", { exact: true }).fill("3h");
  const dead = page.getByRole("button", { name: /^Book 1 GPU/ });
  await expect
    .poll(
      async () =>
        await dead
          .getAttribute("aria-describedby")
          .then((id) => page.locator(`[id="${id}"]`).textContent()),
      { timeout: 15_000 },
    )
    .toMatch(/could not be tried: .*reach/);
});

it("a tenant that is not there, or not one's own, is said to be none, and nothing else is there", async () => {
  for (const tenant of ["nope", "speech"]) {
    const { page } = await open(`/reservations?tenant=${tenant}`);
    const heading = `There is no tenant ${tenant}, or it is not yours`;
    await page.getByRole("heading", { name: heading }).waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(await page.getByRole("link", { name: "Book" }).count()).toBe(0);
    await page.getByRole("link", { name: "vision", exact: true }).click();
    await page.getByRole("heading", { name: "Reservations", level: 1 }).waitFor();
    await page.context().close();
  }
});
