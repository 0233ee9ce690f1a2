/** Names that are too long for their place, and places that are too narrow: nothing breaks out of its row. */
import { expect, it } from "vitest";
import { overhang, settled, stage } from "./kit.ts";

const { open } = stage();

it("at 320 px the names of the pages stand in one line each", async () => {
  const { page } = await open("/", { width: 320 });
  await settled(page);
  for (const link of await page.getByRole("navigation").getByRole("link").all()) {
    const name = await link.textContent();
    const lines = await link.getByText(name ?? "").evaluate((node) => {
      const text = document.createRange();
      text.selectNodeContents(node);
      return text.getClientRects().length;
    });
    expect(lines, name ?? "").toBe(1);
  }
  expect(await overhang(page)).toBe(0);
});
