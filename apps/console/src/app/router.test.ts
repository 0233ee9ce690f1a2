import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { router } from "./router.tsx";

it("the server is told of every page, and of no other", () => {
  const told = JSON.parse(
    readFileSync(new URL("pages.json", import.meta.url), "utf8"),
  ) as readonly string[];
  const routed = Object.keys(router.routesByPath).map((path) => path.replaceAll("$", ":"));
  expect(routed.toSorted()).toEqual(told.toSorted());
});
