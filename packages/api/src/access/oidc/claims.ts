/**
 * From the claims of a checked token to who calls. A caller has exactly one tenant and one role: the
 * strongest of those that the token gives, all of them on the same tenant, or nobody. Nothing is guessed.
 */
import { PATTERNS } from "@berth/contract";
import type { TenantId } from "@berth/domain";
import { ROLES, type Role } from "../../call.ts";
import { rank } from "../scope.ts";
import type { Reason } from "./refusal.ts";
import type { ClaimPath, OidcSettings, RoleGrant } from "./settings.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** Of one kind of token the other must not be taken: it was made for somebody else to read. */
export function kindProblem(
  claims: Claims,
  settings: OidcSettings,
  saysAccess: boolean,
): Reason | null {
  if (claims["cnf"] !== undefined) return "bound";
  if (settings.tokens === "id") return saysAccess || !isIdToken(claims) ? "kind" : null;
  return saysAccess || isAccessToken(claims) ? null : "kind";
}

/** Only these have them: OpenID Connect Core 1.0, sections 2 and 3.3; the last is of a logout token or an event. */
const NEVER_IN_ACCESS = ["nonce", "at_hash", "c_hash", "s_hash", "events"];
/** Whoever makes access tokens as plain JWTs puts at least one of these in: for whom, or what for. */
const ONLY_IN_ACCESS = ["scope", "scp", "client_id", "cid", "azp", "appid"];

function isAccessToken(claims: Claims): boolean {
  if (NEVER_IN_ACCESS.some((name) => claims[name] !== undefined)) return false;
  // Keycloak's and Cognito's own word for what a token is.
  const { typ, token_use: use } = claims;
  if (typ !== undefined && typ !== "Bearer") return false;
  if (use !== undefined && use !== "access") return false;
  const says = typ === "Bearer" || use === "access";
  return says || ONLY_IN_ACCESS.some((name) => claims[name] !== undefined);
}

function isIdToken({ typ, token_use: use, events }: Claims): boolean {
  const other = (typ !== undefined && typ !== "ID") || (use !== undefined && use !== "id");
  return !other && events === undefined;
}

/** The caller's tenant and role. */
export interface Standing {
  readonly tenantId: TenantId;
  readonly role: Role;
}

export function standingOf(claims: Claims, settings: OidcSettings): Standing | Reason {
  const values = new Set(settings.roleClaims.flatMap((path) => textsAt(claims, path)));
  const grants = [...values].flatMap((value) => grantOf(value, settings) ?? []);
  if (grants.length === 0) return "unmapped";
  const named = settings.tenantClaim ? textsAt(claims, settings.tenantClaim) : [];
  const tenants = new Set(
    grants.flatMap(({ tenantId }) => (tenantId === null ? named : [tenantId])),
  );
  const [tenantId, ...others] = tenants;
  if (others.length > 0) return "several-tenants";
  if (tenantId === undefined || !PATTERNS.tenantId.test(tenantId)) return "no-tenant";
  if (named.length === 0 && grants.some((grant) => grant.tenantId === null)) return "no-tenant";
  return { tenantId, role: strongest(grants) };
}

function grantOf(value: string, { roleMap }: OidcSettings): RoleGrant | undefined {
  if (roleMap) return roleMap.get(value);
  const role = ROLES.find((each) => each === value);
  return role && { role, tenantId: null };
}

function strongest(grants: readonly RoleGrant[]): Role {
  return grants.reduce<Role>(
    (best, { role }) => (rank(role) > rank(best) ? role : best),
    "tenant-viewer",
  );
}

/** The texts that a claim holds: one, or a list. Whatever else is there gives nothing. */
function textsAt(claims: Claims, path: ClaimPath): string[] {
  let at: unknown = claims;
  for (const name of path) {
    if (typeof at !== "object" || at === null || Array.isArray(at)) return [];
    at = Object.hasOwn(at, name) ? (at as Claims)[name] : undefined;
  }
  const found: readonly unknown[] = Array.isArray(at) ? at : [at];
  return found.filter((value) => typeof value === "string");
}
