/** Text that means harm, in every field that takes free text: it is shown as text, and the page keeps its shape. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { overhang, settled, stage } from "./kit.ts";

const { world, open } = stage();

const IMAGE = `<img src=x onerror="document.documentElement.dataset.owned=1">`;
const RTL = "\u202Eright to left\u202C שלום مرحبا";
/** What acts on the text around it is shown, and does not act. */
const SHOWN_RTL = "[U+202E]right to left[U+202C] שלום مرحبا";
const shownAs = (text: string): string => (text === RTL ? SHOWN_RTL : text);
/** Overrides and isolates of direction that reach the page as text, title or name. */
const ACTING = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const LONG = "W".repeat(256);
const TEXTS = { "an image that would run": IMAGE, "right to left": RTL, "256 characters": LONG };
const OWNER = "hostile";

const pools = new Map<string, string>();
const machines = new Map<string, { readonly siteId: string; readonly nodeId: string }>();

beforeAll(async () => {
  const { admin } = world();
  for (const text of Object.values(TEXTS)) {
    await admin.fleet.putTenant({ tenantId: OWNER, name: text });
    const site = await admin.fleet.putSite({ tenantId: OWNER, name: text, region: text });
    const pool = await admin.pools.create({
      tenantId: OWNER,
      siteId: site.id,
      class: "metal-host",
      gpuModel: "X",
      policy: { label: text },
    });
    pools.set(text, pool.id);
    await admin.access.createKey({ tenantId: OWNER, role: "tenant-viewer", name: text });
    const { nodes } = await admin.fleet.putNodes({
      siteId: site.id,
      poolId: pool.id,
      nodes: [
        {
          name: text,
          address: text,
          labels: { rack: text, zone: text },
          gpus: [0, 1, 2, 3].map((index) => ({
            uuid: `GPU-${pool.id.slice(-8)}-${index}`,
            index,
            model: text,
            nvlinkDomain: text.slice(0, 128),
            vfioGroup: String(index),
          })),
        },
      ],
    });
    const nodeId = nodes[0]?.id ?? "";
    machines.set(text, { siteId: site.id, nodeId });
    const { units } = await admin.fleet.getNode({ tenantId: OWNER, nodeId });
    await admin.unitReservations.create({
      nodeId,
      unitIds: units.slice(0, 1).map(({ id }) => id),
      allowedOrgIds: [OWNER],
      reason: text,
      contractRef: text,
    });
    const booked = await admin.reservations.create({
      tenantId: OWNER,
      poolId: pool.id,
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
    });
    await admin.reservations.release({ tenantId: OWNER, reservationId: booked.id });
    await admin.reservations.create({
      tenantId: OWNER,
      poolId: pool.id,
      devices: [{ class: "gpu", count: 2 }],
      duration: "5h",
    });
  }
});

/** All that the page says: its text, its titles and its names. */
function wordsOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const named = [...document.querySelectorAll("[title], [aria-label]")];
    const said = named.flatMap((at) => [at.getAttribute("title"), at.getAttribute("aria-label")]);
    return [document.title, document.body.textContent, ...said].join("\n");
  });
}

describe.each(Object.entries(TEXTS))("%s", (_name, text) => {
  const pages = (): string[] => [
    `/?pool=${pools.get(text)}`,
    "/pools",
    `/pools/${pools.get(text)}`,
    `/book?pool=${pools.get(text)}`,
    "/reservations",
    "/reservations?view=table&state=all",
    "/fleet",
    "/activity",
  ];

  it.each([1440, 375])("is text on every page, at %i px", async (width) => {
    let seen = 0;
    for (const path of pages()) {
      const separator = path.includes("?") ? "&" : "?";
      const { page, complaints } = await open(`${path}${separator}tenant=${OWNER}`, {
        token: world().adminToken,
        width,
      });
      await settled(page);
      seen += (await page.locator("body").textContent())?.includes(shownAs(text)) ? 1 : 0;
      expect(await page.locator("img[src=x]").count(), path).toBe(0);
      expect(ACTING.test(await wordsOf(page)), `${path} shows what acts unseen`).toBe(false);
      expect(await page.evaluate(() => document.documentElement.dataset["owned"]), path).toBe(
        undefined,
      );
      expect(await overhang(page), `${path} is wider than the screen`).toBe(0);
      expect(complaints, path).toEqual([]);
      await page.context().close();
    }
    // A test that never met the text would prove nothing.
    expect(seen).toBeGreaterThanOrEqual(4);
  });
});

/** Dialogs by their button; those of a node, and those of a pool. */
const NODE_DIALOGS = [
  "Register machines",
  "Set state",
  "Change pool",
  "Remove from the fleet",
  "Plan maintenance",
];
const POOL_DIALOGS = ["Machines", "Terminate a booking", "Offer to a tenant", "Archive"];

describe.each(Object.entries(TEXTS))("%s, in dialogs at 375 px", (_name, text) => {
  const visit = async (path: string, buttons: readonly string[]): Promise<number> => {
    const { page, complaints } = await open(`${path}&tenant=${OWNER}`, {
      token: world().adminToken,
      width: 375,
    });
    await settled(page);
    let seen = 0;
    for (const name of buttons) {
      await page.getByRole("button", { name, exact: true }).click();
      const dialog = page.getByRole("dialog").or(page.getByRole("alertdialog"));
      await dialog.getByRole("button", { name: "Close", exact: true }).waitFor();
      await settled(page);
      seen += (await dialog.textContent())?.includes(shownAs(text)) ? 1 : 0;
      expect(await page.locator("img[src=x]").count(), name).toBe(0);
      expect(ACTING.test(await wordsOf(page)), `${name} shows what acts unseen`).toBe(false);
      expect(
        await dialog.evaluate((at) => at.scrollWidth - at.clientWidth),
        `${name} is wider than itself`,
      ).toBe(0);
      expect((await dialog.boundingBox())?.width, name).toBeLessThanOrEqual(375);
      expect(await overhang(page), name).toBe(0);
      await dialog.getByRole("button", { name: "Close", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    }
    expect(complaints).toEqual([]);
    return seen;
  };

  it("of a node", async () => {
    const { nodeId, siteId } = machines.get(text) ?? { nodeId: "", siteId: "" };
    expect(
      await visit(`/fleet?site=${siteId}&node=${nodeId}`, NODE_DIALOGS),
    ).toBeGreaterThanOrEqual(3);
  });

  it("of a pool", async () => {
    expect(await visit(`/pools/${pools.get(text)}?group=nvlink`, POOL_DIALOGS)).toBeGreaterThan(0);
  });
});

it("in an address it is an address, and leads to a page that says what is wrong", async () => {
  const image = encodeURIComponent(IMAGE);
  const { page, complaints } = await open(`/book?gpus=${image}&for=${image}`);
  await page.getByLabel("For", { exact: true }).waitFor();
  expect(await page.getByLabel("For", { exact: true }).inputValue()).toBe(IMAGE);
  await page.goto(`${world().url}/book?gpus=1&for=1h&pool=${image}`);
  await page
    .getByRole("heading", {
      name: "The pool of this address is not there, or not yours to book in",
    })
    .waitFor();
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(complaints).toEqual([]);
});
