/** The journeys that the console is measured by: clicks and changed fields are counted from the opened page. */
import { expect, it } from "vitest";
import { person, settled, stage } from "./kit.ts";

const { world, open } = stage();
const HOUR_MS = 3_600_000;

it("A: 16 GPUs on one rack for next week, in two clicks and three fields", async () => {
  const { page, complaints } = await open("/");
  await settled(page);
  const me = person();
  await me.click(page.getByRole("navigation").getByRole("link", { name: "Book" }));
  await me.fill(page.getByLabel("GPUs", { exact: true }), "16");
  await me.select(page.getByLabel("Keep together"), "on one rack");
  await me.choose(page.getByRole("radio", { name: "Next week" }));
  await me.click(page.getByRole("button", { name: /^Book 16 GPUs, Mon \d+ \w+ 09:00 CES?T$/ }));
  const facts = page.getByRole("complementary", { name: "Facts of the reservation" });
  await facts.getByText("16 GPUs on 2 nodes").first().waitFor();
  expect([me.clicks(), me.fields()]).toEqual([2, 3]);

  const [made] = await world()
    .as()
    .reservations.list({ tenantId: "vision", include: ["members"] })
    .toArray({ limit: 1 });
  expect(made).toMatchObject({ state: "scheduled", gang: { size: 2, topologyKey: "rack" } });
  expect((made?.end ?? 0) - (made?.start ?? 0)).toBe(7 * 24 * HOUR_MS);
  const start = new Date(made?.start ?? 0).toLocaleString("en-GB", {
    timeZone: "Europe/Berlin",
    weekday: "long",
    hour: "2-digit",
    minute: "2-digit",
  });
  expect(start).toMatch(/Monday.*09:00/);
  const nodes = await Promise.all(
    (made?.members ?? []).map(({ nodeId }) =>
      world().admin.fleet.getNode({ tenantId: "lab", nodeId }),
    ),
  );
  expect(nodes).toHaveLength(2);
  expect(new Set(nodes.map(({ labels }) => labels["rack"])).size).toBe(1);
  expect(complaints).toEqual([]);
});

it("says whether it fits within 300 ms of the last key", async () => {
  const { page } = await open("/book");
  const verdict = page.getByRole("region", { name: "The pool" });
  await verdict.getByText("It fits").waitFor();
  const field = page.getByLabel("GPUs", { exact: true });
  const times: number[] = [];
  for (const count of ["4", "2", "1"]) {
    await field.fill(count);
    const typed = performance.now();
    await page
      .getByRole("button", { name: `Book ${count} GPU` })
      .and(page.locator(":not([aria-disabled])"))
      .waitFor();
    times.push(performance.now() - typed);
  }
  // The machine that runs the tests does more than this: the best of three is the form's own time.
  expect(Math.min(...times)).toBeLessThan(300);
});

it("B: why it does not fit and when it will, in no click; the time is taken in one", async () => {
  const pool = world().pool("H100");
  const berth = world().as("speech");
  // Everything is taken for the coming hours.
  const { capacity } = await berth.capacity.byPool({ tenantId: "speech", poolId: pool });
  const nodes = capacity.find(({ resource }) => resource === "node")?.total ?? 0;
  for (let left = nodes; left > 0; left -= 1)
    await berth.reservations
      .create({
        tenantId: "speech",
        poolId: pool,
        devices: [{ class: "gpu", count: 8 }],
        duration: "3h",
      })
      .safe();
  const { page, complaints } = await open(`/book?pool=${pool}&gpus=8&together=node&for=30d`);
  await settled(page);
  const verdict = page.getByRole("region", { name: "The pool" });
  await verdict.getByText("It does not fit").waitFor();
  await page.getByRole("list", { name: "Nodes by what rules them out" }).waitFor();
  const book = page.getByRole("button", { name: /^Book 8 GPUs/ });
  expect(await book.getAttribute("aria-disabled")).toBe("true");
  const me = person();
  const start = page.getByRole("button", { name: /^Start \w{3} \d+ \w{3} \d\d:\d\d CES?T$/ });
  const said = (await start.textContent())?.replace("Start ", "") ?? "";
  await me.click(start);
  await verdict.getByText("It fits").waitFor();
  expect([me.clicks(), me.fields()]).toEqual([1, 0]);
  await page.getByRole("button", { name: `Book 8 GPUs, ${said}` }).waitFor();
  expect(complaints).toEqual([]);
});

it("a cause leads to its nodes on the map", async () => {
  const { page } = await open(`/book?pool=${world().pool("H100")}&gpus=8&together=node&for=30d`);
  const causes = page.getByRole("list", { name: "Nodes by what rules them out" });
  await causes.getByRole("link").first().click();
  await page.getByRole("grid", { name: "GPUs of the pool" }).waitFor();
  expect(new URL(page.url()).searchParams.get("cause")).toMatch(/^[A-Z_]+$/);
});

it("who is beaten to it keeps the form and sees the new answer", async () => {
  const pool = world().pool("A100");
  const ask = { poolId: pool, devices: [{ class: "gpu" as const, count: 8 }], duration: "1h" };
  const berth = world().as("robotics");
  const { page } = await open(`/book?pool=${pool}&gpus=8&together=node&for=1h`);
  const book = page.getByRole("button", { name: "Book 8 GPUs, now" });
  await page.getByRole("region", { name: "The pool" }).getByText("It fits").waitFor();
  // Held back on its way, while somebody else takes all there is.
  await page.route("**/reservations.create*", async (route) => {
    for (;;) {
      const taken = await berth.reservations.create({ tenantId: "robotics", ...ask }).safe();
      if (!taken.ok) break;
    }
    await route.continue();
  });
  await book.click();
  await page.getByRole("alert").getByText("Somebody was faster").waitFor();
  await page.getByRole("region", { name: "The pool" }).getByText("It does not fit").waitFor();
  expect(await page.getByLabel("GPUs", { exact: true }).inputValue()).toBe("8");
  expect(await page.getByLabel("For", { exact: true }).inputValue()).toBe("1h");
});
