/** A token comes in one way: `Authorization: Bearer …`. No log shows it, however it was sent. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase, type TestDatabase } from "@berth/db/testing";
import { ADMIN_KEY, type SpawnedServer, spawnServer } from "../harness.ts";
import { rawRequest, sendRaw } from "./raw-socket.ts";

let database: TestDatabase;
let server: SpawnedServer;
beforeAll(async () => {
  database = await testDatabase();
  server = await spawnServer(database.url, { LOG_LEVEL: "trace" });
});
afterAll(async () => {
  await server.kill();
  await database.close();
});

const whoami = "/api/compute/access/whoami";
const status = async (path: string, headers: readonly string[]) => {
  const request = rawRequest(`POST ${path}`, ["content-type: application/json", ...headers], "{}");
  return (await sendRaw(server.url, request)).statuses;
};

it.each([
  ["as it should be", [`authorization: Bearer ${ADMIN_KEY}`], [200]],
  ["with the scheme in lower case", [`authorization: bearer ${ADMIN_KEY}`], [200]],
  ["as Basic", [`authorization: Basic ${ADMIN_KEY}`], [401]],
  ["without a scheme", [`authorization: ${ADMIN_KEY}`], [401]],
  ["as a cookie", [`cookie: authorization=Bearer ${ADMIN_KEY}`], [401]],
  ["as another header", [`x-api-key: ${ADMIN_KEY}`], [401]],
  ["with another behind it", [`authorization: Bearer ${ADMIN_KEY}, Bearer ${ADMIN_KEY}`], [401]],
  ["twice", Array(2).fill(`authorization: Bearer ${ADMIN_KEY}`), [400]],
  ["twice, in two cases", [`Authorization: Bearer ${ADMIN_KEY}`, "AUTHORIZATION: Bearer x"], [400]],
  ["of 5,000 characters", [`authorization: Bearer ${"x".repeat(5_000)}`], [401]],
  ["of 100 kB", [`authorization: Bearer ${"x".repeat(100_000)}`], [431]],
])("a token %s", async (_how, headers: readonly string[], statuses) => {
  expect(await status(whoami, headers)).toEqual(statuses);
});

it("a token in the address is no token, on any surface", async () => {
  const token = encodeURIComponent(ADMIN_KEY);
  const parameters = encodeURIComponent(JSON.stringify({ token: ADMIN_KEY }));
  for (const path of [
    `${whoami}?token=${token}`,
    `${whoami}?access_token=${token}`,
    `/trpc/access.whoami?token=${token}`,
    `/trpc/access.whoami?connectionParams=${parameters}`,
    `/api/compute/events/stream?token=${token}`,
  ]) {
    const verb = path.includes("stream") ? "GET" : "POST";
    const request = rawRequest(`${verb} ${path}`, ["content-type: application/json"]);
    expect((await sendRaw(server.url, request)).statuses).toEqual([401]);
  }
});

it("no line of the log has had a token in it, at the most talkative level", async () => {
  await status(whoami, [`authorization: Bearer ${ADMIN_KEY}`]);
  await expect.poll(() => server.stdout()).toContain("access.whoami");
  const written = server.stdout() + server.stderr();
  expect(written).not.toContain(ADMIN_KEY);
  expect(written).not.toContain(encodeURIComponent(ADMIN_KEY));
});
