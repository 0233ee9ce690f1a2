/** Servers of released versions have applied these: what is in them never changes again. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** By the name of the file; a release adds its own. */
const RELEASED: Readonly<Record<string, string>> = {
  "0000_tables": "af9bed33f83c8f9e27986a7ff868e6bd15e77d9055394c62ee387037e7814689",
  "0001_gate": "dee6ed032ee1e43009f83af189ce0af81a73ba808938f49b99b976c850c6b3f5",
};

const read = (name: string) =>
  readFileSync(new URL(`../migrations/${name}`, import.meta.url), "utf8");

test.each(Object.entries(RELEASED))("%s is as it was released", (tag, hash) => {
  expect(
    createHash("sha256")
      .update(read(`${tag}.sql`))
      .digest("hex"),
  ).toBe(hash);
});

test("what was released comes first, in its order", () => {
  const { entries } = JSON.parse(read("meta/_journal.json")) as { entries: { tag: string }[] };
  const tags = entries.map(({ tag }) => tag);
  expect(tags.slice(0, Object.keys(RELEASED).length)).toEqual(Object.keys(RELEASED));
});
