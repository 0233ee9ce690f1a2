/** The packed helper of another team's tests, against the real `berth serve --ephemeral`. */
import { fileURLToPath } from "node:url";
import { createBerth, gpus } from "@berth/client";
import { withBerth } from "@berth/client/testing";
import { expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const command = [process.execPath, MAIN];

it("starts a server with a fleet to book on, which says its version and is gone afterwards", async () => {
  const warnings: string[] = [];
  let url = "";
  {
    await using server = await withBerth({ command, fleet: "demo" });
    ({ url } = server);
    const { tenants = {}, pools = [] } = server.fleet ?? {};
    const [[tenantId, token] = ["", ""]] = Object.entries(tenants);
    const [pool] = pools;
    const onWarning = (message: string) => void warnings.push(message);
    const berth = createBerth({ url, token, onWarning });
    const whoami = await berth.access.whoami().withResponse();
    expect(whoami.data.tenantId).toBe(tenantId);
    expect(whoami.headers.get("berth-api-version")).toMatch(/^\d+\.\d+$/);
    const ask = { tenantId, poolId: pool?.poolId ?? "", ...gpus(1), duration: "1h" };
    const id = await berth.withHold(ask, (hold) => hold.reservation.id);
    expect((await berth.reservations.get({ tenantId, reservationId: id })).state).toBe("released");
  }
  expect(warnings).toEqual([]);
  const gone = await createBerth({ url, token: "t", maxRetries: 0 }).access.whoami().safe();
  expect(gone.error?.code).toBe("NETWORK");
}, 120_000);
