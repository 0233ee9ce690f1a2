import { randomBytes } from "node:crypto";
import { METHOD_NAMES, catalog, type CatalogRow } from "@berth/contract";
import { createPoolStore, openDatabase } from "@berth/db";
import { createEngine } from "@berth/engine";
import { afterAll, describe, expect, test } from "vitest";
import { createAccess } from "./access/access.ts";
import type { Method } from "./call.ts";
import { handlers } from "./groups/index.ts";
import { type GivenDeps, type Parts, createApi } from "./root.ts";
import { logInto } from "./testing/test-api.ts";

// Never connected to: nothing here gets as far as a query.
const db = openDatabase("postgres://nobody@127.0.0.1:1/nowhere");
const log = logInto([]);
const deps: GivenDeps = {
  db,
  log,
  random: randomBytes,
  access: createAccess({ db, log }),
  engine: createEngine({
    store: createPoolStore(db),
    random: randomBytes,
    log,
    elapsed: () => performance.now(),
  }),
  options: { sealKey: null, platformOrg: null },
};
afterAll(() => db.close());

const whole: Parts = { methods: METHOD_NAMES, catalog, handlers };
const withRow = (method: Method, row: Partial<CatalogRow>): Parts => ({
  ...whole,
  catalog: { ...catalog, [method]: { ...catalog[method], ...row } },
});

describe("the start", () => {
  test("succeeds when every method is whole", async () => {
    const api = createApi(deps);
    expect(Object.keys(api.router._def.procedures).toSorted()).toEqual(METHOD_NAMES.toSorted());
    await api.stop();
  });

  test("is refused for a method without a row in the catalog", () => {
    const { "pools.get": _, ...rest } = catalog;
    expect(() => createApi(deps, { ...whole, catalog: rest })).toThrow(/pools\.get has no row/);
  });

  test("is refused for a method without a handler", () => {
    const { get: _, ...rest } = handlers.pools;
    const parts = { ...whole, handlers: { ...handlers, pools: rest } };
    expect(() => createApi(deps, parts)).toThrow(/pools\.get has no handler/);
  });

  test("is refused for an action that the policies cannot speak of", () => {
    const row = { action: "compute:fleet:manage" } as const;
    expect(() => createApi(deps, withRow("pools.get", row))).toThrow(/pools\.get/);
  });

  test("is refused when a row and what its handler is handed do not agree", () => {
    const row = { resource: "compute-tenant" } as const;
    expect(() => createApi(deps, withRow("pools.get", row))).toThrow(/handed compute-pool/);
  });
});
