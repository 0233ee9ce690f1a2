/** The server that the pages are run against: one for all of them, and everything free again before each. */
import { type Berth, type ReservationState, createBerth } from "@berth/client";
import { type TestBerth, withBerth } from "@berth/client/testing";
import path from "node:path";
import { ROOT } from "./pages.ts";

export const BERTH = path.join(ROOT, "apps/cli/bin/berth.js");
/** Where most pages book. */
const MODEL = "NVIDIA-H100-80GB-HBM3";

export interface DemoServer {
  readonly url: string;
  readonly adminToken: string;
  /** Of the tenant that most pages book as. */
  readonly token: string;
  readonly poolId: string;
}

export interface Servers extends AsyncDisposable {
  /** Starts it when it is first asked for. */
  get(): Promise<DemoServer>;
}

export function openServers(): Servers {
  let started: Promise<TestBerth> | undefined;
  const command = [process.execPath, BERTH];
  // Blocks that start one of their own find it so.
  process.env["BERTH_COMMAND"] = command.join(" ");
  return {
    get: async () => demoOf(await (started ??= withBerth({ command, fleet: "demo" }))),
    async [Symbol.asyncDispose]() {
      await (await started)?.stop();
    },
  };
}

function demoOf({ url, token, fleet }: TestBerth): DemoServer {
  const poolId = fleet?.pools.find(({ gpuModel }) => gpuModel === MODEL)?.poolId;
  const vision = fleet?.tenants["vision"];
  if (!fleet || poolId === undefined || vision === undefined)
    throw new Error("the example's fleet is another one than the pages speak of");
  return { url, adminToken: token, token: vision, poolId };
}

/** Everything free again for the next page. */
export async function giveBack({ url, adminToken }: DemoServer): Promise<void> {
  const admin = createBerth({ url, token: adminToken });
  const { tenants } = await admin.fleet.listTenants({});
  await Promise.all(tenants.map(({ tenantId }) => releaseAll(admin, tenantId)));
}

async function releaseAll(admin: Berth, tenantId: string): Promise<void> {
  const live: ReservationState[] = ["scheduled", "active", "preempting"];
  for await (const { id } of admin.reservations.list({ tenantId, state: live }))
    await admin.reservations.release({ tenantId, reservationId: id });
}
