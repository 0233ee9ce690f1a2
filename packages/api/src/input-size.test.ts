import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestApi, testApi } from "./testing/test-api.ts";

let it: TestApi;

beforeAll(async () => {
  it = await testApi();
});
afterAll(() => it.close());

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
const SITE = `site_${"0".repeat(26)}`;

test.each([
  [
    "a map with more keys than any has",
    { siteId: SITE, nodes: [{ name: "x", labels: many(129) }] },
  ],
  ["a list longer than any is", { siteId: SITE, nodes: Array.from({ length: 1_001 }, () => ({})) }],
  [
    "more values than a full report",
    {
      siteId: SITE,
      nodes: Array.from({ length: 1_000 }, () => ({ gpus: Array.from({ length: 401 }, () => 1) })),
    },
  ],
])("%s is refused by its number, as one issue", async (_what, input) => {
  const { error } = await it.outcome("fleet.putNodes", input, it.admin);
  expect(error?.code).toBe("INVALID_INPUT");
  expect(error?.issues).toHaveLength(1);
  expect(error?.issues?.[0]?.message).toMatch(/has (more than )?\d+/);
});
