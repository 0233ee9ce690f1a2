import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REASONS } from "./refusal.ts";

test("every reason that the log may name is explained in the guide", () => {
  const guide = readFileSync(
    new URL("../../../../../apps/docs/sign-in.md", import.meta.url),
    "utf8",
  );
  const explained = [...guide.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, reason]) => reason);
  expect(explained).toEqual(["none", "key", ...Object.keys(REASONS)]);
});
