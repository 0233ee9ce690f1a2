/**
 * The settings of sign-in by an OIDC issuer. Each is checked by itself, then all of them together: a
 * combination by which nobody could sign in, or which says something that is never looked at, stops the start.
 */
import { type ClaimPath, OIDC_ALGORITHMS, type OidcSettings, isTrustworthy } from "@berth/api";
import { PATTERNS, ROLES } from "@berth/contract";
import { z } from "zod";
import { variable } from "./variable.ts";

/** Part of a principal's id, which has room for an issuer of this length and a subject of 255. */
const ISSUER_MAX = 250;
const PATH_MAX = 8;
const MAP_MAX = 1_000;

const DEFAULT_ALGORITHMS = ["RS256", "ES256"];

/** The URL that a text is, when keys may be fetched from there. */
function trustworthyUrl(text: string): URL | null {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null;
  return url && isTrustworthy(url) ? url : null;
}

const issuer = z
  .string()
  .refine(
    (text) => text.length <= ISSUER_MAX && trustworthyUrl(text)?.search === "",
    `must be the issuer's URL, letter for letter as in the tokens' iss: https, or http to this machine; at most ${ISSUER_MAX} characters, without a query`,
  );

const keysUrl = z
  .string()
  .max(2_048)
  .refine(
    (text) => trustworthyUrl(text) !== null,
    "must be the URL of a JSON Web Key Set: https, or http to this machine",
  );

const tokenUrl = z
  .string()
  .max(2_048)
  .refine(
    (text) => trustworthyUrl(text) !== null,
    "must be the URL of a token endpoint: https, or http to this machine",
  );

const printable = z
  .string()
  .regex(/^[\x20-\x7e]{1,256}$/, "must be 1 to 256 printable ASCII characters");

const PATH_MESSAGE =
  "must be names of claims by dots, as realm_access.roles; a dot within a name is written \\.";

/** `a.b\.c` is `b.c` in `a`: Keycloak's own way to write a name that holds a dot. */
function claimPath(text: string): ClaimPath | null {
  const names: string[] = [];
  let name = "";
  for (const [part] of text.matchAll(/\\[.\\]|[^]/g)) {
    if (/^[\s\p{Cc},\\]$/u.test(part)) return null;
    if (part === ".") {
      names.push(name);
      name = "";
    } else name += part.length > 1 ? part.slice(1) : part;
  }
  names.push(name);
  return names.every((each) => each !== "") && names.length <= PATH_MAX ? names : null;
}

const onePath = z
  .string()
  .max(512)
  .transform((text, context): ClaimPath => {
    const path = claimPath(text);
    if (path) return path;
    context.addIssue({ code: "custom", message: PATH_MESSAGE });
    return z.NEVER;
  });

const somePaths = z
  .string()
  .max(2_048)
  .transform((text, context): readonly ClaimPath[] => {
    const paths = text.split(",").flatMap((each) => [claimPath(each.trim())]);
    if (paths.every((path) => path !== null)) return paths;
    context.addIssue({ code: "custom", message: `${PATH_MESSAGE}; several by comma` });
    return z.NEVER;
  });

const algorithms = z.string().transform((text, context): readonly string[] => {
  const names = text.split(",").map((each) => each.trim());
  if (names.every((name) => OIDC_ALGORITHMS.some((known) => known === name))) return names;
  const message = `must be some of ${OIDC_ALGORITHMS.join(", ")}, by comma`;
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

const MAP_MESSAGE =
  'must be a JSON object such as {"gpu-admins":"fleet-admin","vision":{"tenantId":"vision","role":"tenant-operator"}}';
const role = z.enum(ROLES);
const grants = z.record(
  z.string().min(1),
  z.union([role, z.strictObject({ tenantId: z.string().regex(PATTERNS.tenantId), role })]),
);

const roleMap = z.string().transform((text, context): OidcSettings["roleMap"] => {
  const found = grants.safeParse(parsed(text));
  const entries = Object.entries(found.data ?? {});
  if (found.success && entries.length > 0 && entries.length <= MAP_MAX)
    return new Map(
      entries.map(([value, grant]) => [
        value,
        typeof grant === "string" ? { role: grant, tenantId: null } : grant,
      ]),
    );
  context.addIssue({ code: "custom", message: MAP_MESSAGE });
  return z.NEVER;
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

export const OIDC_VARIABLES = {
  BERTH_OIDC_ISSUER: variable(
    issuer,
    "only keys sign in",
    "the issuer whose tokens are taken beside keys; apps/docs/sign-in.md has examples",
  ),
  BERTH_OIDC_AUDIENCE: variable(
    printable,
    "none",
    "what the tokens' aud must hold; needed with an issuer",
  ),
  BERTH_OIDC_ROLE_CLAIM: variable(
    somePaths,
    "none",
    "the claim, or claims by comma, whose values give roles; needed with an issuer",
  ),
  BERTH_OIDC_TENANT_CLAIM: variable(
    onePath,
    "none",
    "the claim that names the caller's tenant; needed unless BERTH_OIDC_ROLE_MAP names one for every value",
  ),
  BERTH_OIDC_ROLE_MAP: variable(
    roleMap,
    "the values are names of roles",
    "what each value of a role claim gives: a role, or a role on a tenant; others give nothing",
  ),
  BERTH_OIDC_TOKENS: variable(
    z.enum(["access", "id"], "must be access or id"),
    "access",
    "which tokens of the issuer are taken: access tokens, or ID tokens (Dex, CI systems)",
  ),
  BERTH_OIDC_ALGORITHMS: variable(
    algorithms,
    DEFAULT_ALGORITHMS.join(","),
    "how tokens may be signed, by comma",
  ),
  BERTH_OIDC_JWKS_URI: variable(
    keysUrl,
    "as the issuer's discovery says, on its own host",
    "where the issuer's keys are; discovery is not asked then",
  ),
  BERTH_OIDC_CLIENT_ID: variable(
    printable,
    "no sign-in there",
    "the client that the console signs in as, shown in /config.json",
  ),
  BERTH_OIDC_TOKEN_URI: variable(
    tokenUrl,
    "as the issuer's discovery says, on its own host",
    "where the console trades a sign-in for a token; its host has to allow requests from the console's (CORS)",
  ),
} as const;

type Variables = typeof OIDC_VARIABLES;
type Name = keyof Variables;

export interface OidcConfig {
  readonly settings: OidcSettings;
  /** Null = the console does not offer to sign in. */
  readonly clientId: string | null;
  /** Where the console gets its token; null = where discovery says, on the issuer's own host. */
  readonly tokenUri: string | null;
}

interface Reading {
  /** The value; null when it is not set or cannot be used. */
  read<K extends Name>(name: K): z.output<Variables[K]["schema"]> | null;
  isSet(name: Name): boolean;
  problem(line: string): void;
}

/** Null = no issuer. */
export function readOidc({ read, isSet, problem }: Reading): OidcConfig | null {
  const values = {
    issuer: read("BERTH_OIDC_ISSUER"),
    audience: read("BERTH_OIDC_AUDIENCE"),
    jwksUri: read("BERTH_OIDC_JWKS_URI"),
    algorithms: read("BERTH_OIDC_ALGORITHMS") ?? DEFAULT_ALGORITHMS,
    tokens: read("BERTH_OIDC_TOKENS") ?? ("access" as const),
    tenantClaim: read("BERTH_OIDC_TENANT_CLAIM"),
    roleClaims: read("BERTH_OIDC_ROLE_CLAIM"),
    roleMap: read("BERTH_OIDC_ROLE_MAP"),
  };
  const clientId = read("BERTH_OIDC_CLIENT_ID");
  const tokenUri = read("BERTH_OIDC_TOKEN_URI");
  checkTogether({ isSet, problem }, values.roleMap);
  const { issuer: url, audience, roleClaims } = values;
  if (url === null || audience === null || roleClaims === null) return null;
  return { settings: { ...values, issuer: url, audience, roleClaims }, clientId, tokenUri };
}

function checkTogether(
  { isSet, problem }: Pick<Reading, "isSet" | "problem">,
  map: OidcSettings["roleMap"],
): void {
  const names = Object.keys(OIDC_VARIABLES) as Name[];
  const given = names.find(isSet);
  if (given === undefined) return;
  if (!isSet("BERTH_OIDC_ISSUER")) return problem(needed("BERTH_OIDC_ISSUER", given));
  if (isSet("BERTH_OIDC_TOKEN_URI") && !isSet("BERTH_OIDC_CLIENT_ID"))
    problem(needed("BERTH_OIDC_CLIENT_ID", "BERTH_OIDC_TOKEN_URI"));
  for (const name of ["BERTH_OIDC_AUDIENCE", "BERTH_OIDC_ROLE_CLAIM"] as const)
    if (!isSet(name)) problem(needed(name, "BERTH_OIDC_ISSUER"));
  const needsTenant = isSet("BERTH_OIDC_ROLE_MAP")
    ? [...(map?.values() ?? [])].some(({ tenantId }) => tenantId === null)
    : true;
  const named = isSet("BERTH_OIDC_TENANT_CLAIM");
  if (needsTenant && !named)
    problem(
      "BERTH_OIDC_TENANT_CLAIM must be set, or BERTH_OIDC_ROLE_MAP must name a tenant for every value: nobody would have one",
    );
  if (map && named && !needsTenant)
    problem(
      "BERTH_OIDC_TENANT_CLAIM must not be set when BERTH_OIDC_ROLE_MAP names a tenant for every value: it would never be looked at",
    );
}

const needed = (name: Name, by: Name) => `${name} must be set when ${by} is`;
