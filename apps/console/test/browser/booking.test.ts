/** The booking form against what changes under it: spot bookings that come up, answers that are old, what is taken. */
import { expect, it } from "vitest";
import { settled, stage } from "./kit.ts";

const { world, open } = stage();
let made = 0;

/** A pool of one machine with so many GPUs, offered to vision and to robotics. */
async function ownPool(gpus: number, nodes = 1): Promise<string> {
  const { admin } = world();
  const { siteId } = await admin.pools.get({ tenantId: "lab", poolId: world().pool("H100") });
  const { id: poolId } = await admin.pools.create({ tenantId: "lab", siteId, class: "metal-host" });
  made += 1;
  await admin.fleet.putNodes({
    siteId,
    poolId,
    nodes: Array.from({ length: nodes }, (_, node) => ({
      name: `own-${made}-${node}`,
      gpus: Array.from({ length: gpus }, (_each, index) => ({
        uuid: `GPU-own-${made}-${node}-${index}`,
        index,
        model: "NVIDIA-OWN",
      })),
    })),
  });
  for (const toTenantId of ["vision", "robotics"])
    await admin.pools.offer({ tenantId: "lab", poolId, toTenantId, quota: { gpu: 64 } });
  return poolId;
}

async function bookSpot(poolId: string, count: number): Promise<void> {
  await world()
    .as("robotics")
    .reservations.create({
      tenantId: "robotics",
      poolId,
      devices: [{ class: "gpu", count }],
      duration: "6h",
      spot: true,
    });
}

it("the button says which spot bookings it ends, and that is what it ends", async () => {
  const poolId = await ownPool(2);
  await bookSpot(poolId, 1);
  await bookSpot(poolId, 1);
  const { page } = await open(`/book?pool=${poolId}&gpus=2&for=1h`);
  const verdict = page.getByRole("region", { name: "The pool" });
  await verdict.getByText("It fits when spot makes way").waitFor();
  await verdict.getByText("2 spot bookings would get notice").waitFor();
  await page.getByRole("button", { name: /^Book 2 GPUs, .*, and end 2 spot bookings$/ }).click();
  await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  const ended = await world()
    .as("robotics")
    .reservations.list({ tenantId: "robotics", poolId, state: ["preempting"] })
    .toArray({ limit: 9 });
  expect(ended).toHaveLength(2);
});

it("a spot booking that came up after the answer is not ended unseen: nothing is booked, and it is shown", async () => {
  const poolId = await ownPool(1);
  const { page } = await open(`/book?pool=${poolId}&gpus=1&for=1h`);
  await settled(page);
  const button = page.getByRole("button", { name: "Book 1 GPU, now" });
  await button.waitFor();
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("reservations.create")) sent.push(request.url());
  });
  // Another tenant is a moment faster than the press: nothing tells this page of it.
  await page.route(
    /reservations\.quote/,
    async (route) => {
      await bookSpot(poolId, 1);
      await route.continue();
    },
    { times: 1 },
  );
  await button.click();
  await page
    .getByText("What it would end has changed meanwhile, and nothing was booked.")
    .waitFor();
  const again = page.getByRole("button", { name: /^Book 1 GPU, .*, and end 1 spot booking$/ });
  await again.waitFor();
  expect(sent).toEqual([]);
  await again.click();
  await page.getByRole("complementary", { name: "Facts of the reservation" }).waitFor();
  expect(sent).toHaveLength(1);
});

it("an answer to what the form said before has no mark any more", async () => {
  const poolId = await ownPool(1);
  const { page } = await open(`/book?pool=${poolId}&gpus=1&for=1h`);
  await settled(page);
  const verdict = page.getByRole("region", { name: "The pool" });
  await verdict.getByText("It fits").waitFor();
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/reservations\.quote/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel("For", { exact: true }).fill("2h");
  await verdict.getByText("Being tried").waitFor();
  expect(await page.getByText("✓").count()).toBe(0);
  expect(await page.getByRole("status").and(page.locator("[aria-busy=true]")).count()).toBe(1);
  answer();
  await verdict.getByText("It fits").waitFor();
});

it("it is said which of the nodes would be taken, and only its units are marked", async () => {
  const poolId = await ownPool(2, 3);
  const ask = { tenantId: "vision", poolId, devices: [{ class: "gpu" as const, count: 2 }] };
  const { candidates } = await world()
    .as()
    .capacity.preview({ ...ask, duration: "1h" });
  expect(candidates).toHaveLength(3);
  const [best] = candidates;
  const { page } = await open(`/book?pool=${poolId}&gpus=2&for=1h`);
  await page
    .getByText(`Takes ${best?.nodeName}, marked on the map; 2 other nodes could take it instead`)
    .waitFor();
  const marked = page.getByRole("gridcell", { selected: true });
  await expect.poll(() => marked.count()).toBe(2);
  for (const cell of await marked.all())
    expect(await cell.getAttribute("aria-label")).toContain(`on ${best?.nodeName}`);
  await page.getByRole("button", { name: /^Book 2 GPUs/ }).click();
  await page
    .getByRole("complementary", { name: "Facts of the reservation" })
    .getByText(best?.nodeName ?? "")
    .first()
    .waitFor();
});

it("a count that is none is on no button", async () => {
  const { page } = await open("/book");
  await settled(page);
  await page.getByLabel("GPUs", { exact: true }).fill("-3");
  await page.getByText("A whole number from 1 on").first().waitFor();
  const button = page.getByRole("button", { name: /^Book/ });
  // Its name goes on with why it is dead.
  expect(await button.textContent()).toMatch(/^Book(?!,| GPUs| now)/);
  expect(await page.getByText("-3").count()).toBe(0);
});

it("the least that could be given up is offered, and not the next of a few steps", async () => {
  const poolId = await ownPool(8);
  // Five are left: half of eight fits and three quarters do not.
  await world()
    .as("robotics")
    .reservations.create({
      tenantId: "robotics",
      poolId,
      devices: [{ class: "gpu", count: 3 }],
      duration: "6h",
    });
  const { page } = await open(`/book?pool=${poolId}&gpus=8&together=node&for=1h`);
  await page.getByRole("button", { name: "5 GPUs instead of 8" }).click();
  await page.getByRole("region", { name: "The pool" }).getByText("It fits").waitFor();
  await page.getByRole("button", { name: "Book 5 GPUs, now" }).waitFor();
});
