/** What a call made is there for the next one. */
import { expect } from "vitest";
import type { Case } from "./cases.ts";
import type { World } from "./world.ts";

type Output = Readonly<Record<string, unknown>>;
interface Read {
  readonly method: string;
  readonly input: object;
  /** A node: it is looked at as its owner's. */
  readonly ofNode?: unknown;
  /** What must be in the answer. */
  readonly shows: unknown;
}

/** How what a method made is read; null: it made nothing that is read by itself. */
const READS: Readonly<Record<string, (output: Output, input: Output) => Read | null>> = {
  "pools.create": ({ id, tenantId }) => ({
    method: "pools.get",
    input: { tenantId, poolId: id },
    shows: { id },
  }),
  "reservations.create": (output) => ({
    method: "reservations.get",
    input: { tenantId: output["tenantId"], reservationId: output["id"] },
    shows: { id: output["id"], state: output["state"], members: output["members"] },
  }),
  "unitReservations.create": ({ id, nodeId, reservedUnitIds }) => ({
    method: "unitReservations.get",
    input: { nodeId, reservationId: id },
    shows: { id, reservedUnitIds },
  }),
  "fleet.putSite": ({ id, tenantId, name }) => ({
    method: "fleet.listSites",
    input: { tenantId },
    shows: { sites: expect.arrayContaining([expect.objectContaining({ id, name })]) },
  }),
  "fleet.putTenant": ({ tenantId }) => ({
    method: "fleet.listTenants",
    input: {},
    shows: { tenants: expect.arrayContaining([expect.objectContaining({ tenantId })]) },
  }),
  "access.createKey": ({ key }) => ({
    method: "access.listKeys",
    input: { tenantId: (key as Output)["tenantId"] },
    shows: { keys: expect.arrayContaining([key]) },
  }),
  "fleet.scheduleMaintenance": ({ id }, { nodeId }) =>
    id === null
      ? null
      : {
          method: "fleet.getNode",
          input: { nodeId },
          ofNode: nodeId,
          shows: { maintenance: expect.arrayContaining([expect.objectContaining({ id })]) },
        },
};

async function ownerOf({ server }: World, nodeId: unknown): Promise<string> {
  const [row] = await server.database.sql<{ owner: string }[]>`
    select s.tenant_id as owner from nodes n join sites s on s.id = n.site_id
    where n.id = ${String(nodeId)}`;
  return row?.owner ?? "";
}

export async function madeReadable(world: World, each: Case, output: unknown): Promise<void> {
  const input = JSON.parse(world.settled(JSON.stringify(each.input))) as Output;
  const read = READS[each.operation.method]?.(output as Output, input);
  if (!read) return;
  const of = read.ofNode === undefined ? {} : { tenantId: await ownerOf(world, read.ofNode) };
  const { body } = await world.server.http(read.method, { ...read.input, ...of });
  expect(body, `${read.method} after ${each.operation.method}`).toMatchObject(read.shows as object);
}
