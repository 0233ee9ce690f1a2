/** What is said where there is nothing to show. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type World, inProcess, nodes, startWorld } from "./kit.ts";

let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startWorld(nodes("H100", 1));
  await world.admin.fleet.putTenant({ tenantId: "bare", name: "bare" });
  const operator = { tenantId: "bare", role: "tenant-operator", name: "bare" } as const;
  env = world.env({ BERTH_TOKEN: (await world.admin.access.createKey(operator)).secret });
});
afterAll(() => world.stop());

it.each(["pools", "capacity"])(
  "berth %s names the tenant and the flag for another",
  async (verb) => {
    const { code, err } = await inProcess([verb], env);
    expect(code).toBe(0);
    expect(err).toContain("nothing is offered to bare: --tenant asks for another tenant of yours");
    expect((await inProcess([verb], world.env())).err).toBe("");
  },
);
