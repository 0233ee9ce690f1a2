/** `berth keys create | list | revoke`. */
import { ROLES, type Role } from "@berth/contract";
import type { Config } from "../config.ts";
import { UsageError } from "./exit.ts";
import { operatorClient } from "./operator.ts";
import type { Output } from "./output.ts";
import { naming } from "./tenants.ts";

export interface CreateKeyOptions {
  readonly tenant: string;
  readonly role: string;
  readonly name: string;
  /** ISO 8601. */
  readonly expires?: string;
  readonly pool?: readonly string[];
}

/** Prints the new key's token and nothing else: it is shown this once. */
export async function createKey(
  config: Config,
  output: Output,
  options: CreateKeyOptions,
): Promise<void> {
  const wanted = {
    tenantId: options.tenant,
    role: roleOf(options.role),
    name: options.name,
    ...(options.expires === undefined ? {} : { expiresAt: instantOf(options.expires) }),
    ...(options.pool === undefined ? {} : { scope: { poolIds: [...options.pool] } }),
  };
  const berth = operatorClient(config);
  const { key, secret } = await naming(berth, options.tenant, () => berth.access.createKey(wanted));
  output.say(
    `${key.id}: ${key.role} of ${key.tenantId}, named ${key.name}; its token is shown this once`,
  );
  output.data(secret);
}

export async function listKeys(config: Config, output: Output, tenant: string): Promise<void> {
  const berth = operatorClient(config);
  const { keys } = await naming(berth, tenant, () => berth.access.listKeys({ tenantId: tenant }));
  for (const key of keys) output.data(JSON.stringify(key));
}

export async function revokeKey(config: Config, output: Output, keyId: string): Promise<void> {
  output.data(JSON.stringify(await operatorClient(config).access.revokeKey({ keyId })));
}

function roleOf(text: string): Role {
  const role = ROLES.find((name) => name === text);
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(", ")}`);
  return role;
}

function instantOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError("--expires must be a time like 2027-01-31T12:00:00Z");
  return at;
}
