/** The contract's boundary values at the real API: whatever it accepts is done or refused, never a bug. */
import { randomBytes } from "node:crypto";
import type { MethodName } from "@berth/contract";
import {
  BOUNDARIES,
  type Boundary,
  SAMPLE,
  boundaryName,
  boundaryRequest,
} from "@berth/contract/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Method } from "../call.ts";
import { type TestApi, testApi } from "./test-api.ts";
import { nodeReport } from "./world.ts";

const { tenantId, toTenantId } = SAMPLE;
let it: TestApi;
let siteId: unknown;
/** One pool a method, so that none finds what another left behind. */
const pools = new Map<MethodName, unknown>();

beforeAll(async () => {
  it = await testApi({ sealKey: randomBytes(32) });
  const as = (method: Method, input: object) => it.invoke(method, input, it.admin);
  for (const id of [tenantId, toTenantId]) await as("fleet.putTenant", { tenantId: id });
  siteId = (await as("fleet.putSite", { tenantId, name: "hall", region: "eu" }))["id"];
  for (const method of new Set(BOUNDARIES.map((boundary) => boundary.method))) {
    // No request fits for ever, so each preview looks for the earliest start up to the horizon.
    const policy = { horizon: 2 ** 47, maxDuration: 2 ** 47 };
    const { id } = await as("pools.create", { tenantId, siteId, class: "metal-host", policy });
    await as("fleet.putNodes", { siteId, poolId: id, nodes: [nodeReport(`n-${method}`, 1)] });
    pools.set(method, id);
  }
});
afterAll(() => it.close());

/** The request on the real pool and site, but for the field that is under test. */
function real({ method, field }: Boundary, value: unknown): Record<string, unknown> {
  const request = boundaryRequest(method, field, value) as Record<string, unknown>;
  const place = { siteId, poolId: pools.get(method) };
  for (const name of ["siteId", "poolId"] as const)
    if (name in request && field !== name) request[name] = place[name];
  return request;
}

/** What takes the same request as the method of the row; a create that waits would outlast the test. */
function takers({ method, field }: Boundary, value: unknown): Method[] {
  if (method !== "capacity.preview") return [method];
  const waits = field === "wait.timeoutMs" && typeof value === "number" && value > 0;
  return [method, "reservations.quote", ...(waits ? [] : ["reservations.create" as const])];
}

describe("an accepted value is no bug", () => {
  const codes = new Map<string, number>();
  for (const boundary of BOUNDARIES)
    test(boundaryName(boundary), async () => {
      for (const value of boundary.accepts)
        for (const method of takers(boundary, value)) {
          const input = real(boundary, value);
          const { code, error } = await it.outcome(method, input, it.admin);
          codes.set(code, (codes.get(code) ?? 0) + 1);
          expect(["INTERNAL", "UNAVAILABLE"], JSON.stringify([method, input, error])).not.toContain(
            code,
          );
        }
    });

  test("and many of them were done indeed", () => {
    expect(codes.get("OK")).toBeGreaterThan(400);
    expect(it.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
