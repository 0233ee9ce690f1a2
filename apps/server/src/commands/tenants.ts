/** `berth tenants put | list`, and what other commands say of a tenant that is not there. */
import { type Berth, isBerthError } from "@berth/client";
import type { Config } from "../config.ts";
import { NotThereError } from "./exit.ts";
import { operatorClient } from "./operator.ts";
import type { Output } from "./output.ts";

export interface PutTenantOptions {
  readonly parent?: string;
  readonly name?: string;
}

/** Makes the tenant, or changes what is given; prints it as JSON. */
export async function putTenant(
  config: Config,
  output: Output,
  { tenantId, parent, name }: PutTenantOptions & { readonly tenantId: string },
): Promise<void> {
  const berth = operatorClient(config);
  const tenant = await berth.fleet.putTenant({
    tenantId,
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(name === undefined ? {} : { name }),
  });
  output.data(JSON.stringify(tenant));
}

export async function listTenants(config: Config, output: Output): Promise<void> {
  const { tenants } = await operatorClient(config).fleet.listTenants();
  for (const tenant of tenants) output.data(JSON.stringify(tenant));
}

/**
 * Runs a call for a tenant that the person named; when it is refused because there is no such tenant, says so.
 * @throws NotThereError in place of an answer that names nothing
 */
export async function naming<T>(
  berth: Berth,
  tenantId: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const hidden = isBerthError(error, "NOT_FOUND") || isBerthError(error, "FORBIDDEN");
    if (!hidden || (await isSeen(berth, tenantId))) throw error;
    throw new NotThereError(
      `there is no tenant ${tenantId}, or this key may not see it; ` +
        `make it with: berth tenants put ${tenantId}`,
    );
  }
}

/** True as well when that cannot be told: then the first answer is the better one. */
function isSeen(berth: Berth, tenantId: string): Promise<boolean> {
  return berth.fleet.listTenants().then(
    ({ tenants }) => tenants.some((tenant) => tenant.tenantId === tenantId),
    () => true,
  );
}
