/** Every method of the API has a place in the console, or a reason why it has none. */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { createBerth } from "@berth/client";
import { createBerthQueries } from "@berth/client/react";
import { expect, it } from "vitest";

const SOURCES = path.resolve(import.meta.dirname, "..");

/** What the console leaves to the command line and to programs: no page of its is about it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "capacity.preview": "the form asks reservations.quote, which answers it with the quota",
  "pools.capacity": "another name of capacity.byPool",
  "fleet.putTenant": "tenants are made by whoever runs the server",
  "fleet.putProviderAccount": "accounts are registered by whoever runs the server",
  "access.createKey": "a secret that is shown once belongs into no page",
  "access.listKeys": "with the keys",
  "access.revokeKey": "with the keys",
};

function sources(): string {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(path.join(SOURCES, name), "utf8"))
    .join("\n");
}

it("each method is called by the console, or is named here with the reason", () => {
  const queries = createBerthQueries(createBerth({ url: "http://console.invalid", token: "none" }));
  const methods = Object.entries(queries).flatMap(([group, of]) =>
    Object.keys(of).map((method) => `${group}.${method}`),
  );
  expect(methods.length).toBeGreaterThan(30);
  const text = sources();
  const lacking = methods.filter(
    (method) => !text.includes(`berth.${method}(`) && !text.includes(`queries.${method}.`),
  );
  expect(lacking.toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted());
});
