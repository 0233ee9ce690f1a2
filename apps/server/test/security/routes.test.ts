/** The routes that there are, beside those that the contract tells of. */
import { createAccess, createApi } from "@berth/api";
import { createPoolStore, openDatabase } from "@berth/db";
import { createEngine } from "@berth/engine";
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { createAllMetrics } from "../../src/http/all-metrics.ts";
import { createTraffic } from "../../src/http/traffic.ts";
import { createLog } from "../../src/log.ts";
import { openapi } from "../../src/openapi.ts";

/** What is served for others than callers of methods, and what the typed client speaks. */
const BESIDE = [
  "/",
  "/calendar.ics",
  "/config.json",
  "/docs/api",
  "/docs/api/scalar.js",
  "/docs/api/start.js",
  "/docs/errors",
  "/docs/errors/:kind",
  "/healthz",
  "/metrics",
  "/openapi.json",
  "/readyz",
  "/trpc/:path",
  "/trpc/fleet.putNodes",
];

/** The paths of the router's printed tree: a level is four characters deep. */
function pathsOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", verbs] =
      /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    if (part === "") return [];
    const path = (above[indent.length / 4 - 1] ?? "") + part;
    above[indent.length / 4] = path;
    return verbs === undefined ? [] : [path];
  });
}

/** A server that is put together and never listens; its database is never asked. */
async function app() {
  const log = createLog("silent");
  const db = openDatabase("postgres://nobody@127.0.0.1:1/none", { applicationName: "routes" });
  const metrics = createAllMetrics("0.0.0");
  const engine = createEngine({
    store: createPoolStore(db),
    random: randomBytes,
    log,
    elapsed: () => performance.now(),
  });
  const api = createApi({
    db,
    engine,
    access: createAccess({ db, log }),
    log,
    random: randomBytes,
    options: { sealKey: null, platformOrg: "platform" },
  });
  const made = await createApp({
    api,
    log,
    metrics,
    traffic: createTraffic(),
    rateLimit: 1,
    addressRateLimit: 1,
    counting: () => true,
    publicUrl: "",
    trustedProxies: [],
    tracing: null,
    consoleFolder: "not-built",
    oidc: null,
    metricsToken: "m".repeat(32),
    openapi: openapi(),
    draining: () => false,
    notReady: () => Promise.resolve(null),
  });
  await made.ready();
  return { made, stop: () => Promise.all([made.close(), api.stop(), db.close()]) };
}

it("are none: every other path is in the OpenAPI document, and every path of it is a route", async () => {
  const { made, stop } = await app();
  try {
    const { paths } = JSON.parse(openapi()) as { paths: object };
    const told = Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ":$1"));
    const routes = pathsOf(made.printRoutes({ commonPrefix: false }));
    expect(routes.length).toBeGreaterThan(50);
    expect(routes.toSorted()).toEqual([...BESIDE, ...told].toSorted());
  } finally {
    await stop();
  }
});
