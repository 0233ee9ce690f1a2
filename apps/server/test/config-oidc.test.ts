/** Settings of sign-in: what operators of the usual issuers write is taken, what could let nobody in stops the start. */
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../src/index.ts";

const WHOLE = {
  BERTH_OIDC_ISSUER: "https://login.example.com/realms/lab",
  BERTH_OIDC_AUDIENCE: "berth",
  BERTH_OIDC_ROLE_CLAIM: "realm_access.roles",
  BERTH_OIDC_TENANT_CLAIM: "tenant",
};
const oidc = (changes: Record<string, string> = {}) => readConfig({ ...WHOLE, ...changes }).oidc;
const problemsOf = (environment: Record<string, string>): string[] => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
};

describe("settings of sign-in", () => {
  it("are none without an issuer, and safe ones with the four that it needs", () => {
    expect(readConfig({}).oidc).toBeNull();
    expect(oidc()).toEqual({
      clientId: null,
      tokenUri: null,
      settings: {
        issuer: "https://login.example.com/realms/lab",
        audience: "berth",
        jwksUri: null,
        algorithms: ["RS256", "ES256"],
        tokens: "access",
        tenantClaim: ["tenant"],
        roleClaims: [["realm_access", "roles"]],
        roleMap: null,
      },
    });
  });

  it.each([
    ["roles", ["roles"]],
    ["resource_access.berth-api.roles", ["resource_access", "berth-api", "roles"]],
    [String.raw`https://berth\.example\.com/roles`, ["https://berth.example.com/roles"]],
    [String.raw`a\\b.c`, [String.raw`a\b`, "c"]],
    ["cognito:groups", ["cognito:groups"]],
  ])("take the path %s", (text, path) => {
    expect(oidc({ BERTH_OIDC_TENANT_CLAIM: text })?.settings.tenantClaim).toEqual(path);
    expect(oidc({ BERTH_OIDC_ROLE_CLAIM: `${text}, groups` })?.settings.roleClaims).toEqual([
      path,
      ["groups"],
    ]);
  });

  it("take a map of values to roles, with tenants or on the one that a claim names", () => {
    const BERTH_OIDC_ROLE_MAP = JSON.stringify({
      "/gpu/admins": "tenant-admin",
      vision: { tenantId: "vision", role: "tenant-operator" },
    });
    expect(oidc({ BERTH_OIDC_ROLE_MAP })?.settings.roleMap).toEqual(
      new Map([
        ["/gpu/admins", { role: "tenant-admin", tenantId: null }],
        ["vision", { role: "tenant-operator", tenantId: "vision" }],
      ]),
    );
  });

  it("need no tenant claim where every value names its tenant", () => {
    const { BERTH_OIDC_TENANT_CLAIM: _, ...rest } = WHOLE;
    const map = '{"vision":{"tenantId":"vision","role":"tenant-viewer"}}';
    const config = readConfig({ ...rest, BERTH_OIDC_ROLE_MAP: map });
    expect(config.oidc?.settings.tenantClaim).toBeNull();
  });

  it.each([
    ["BERTH_OIDC_ISSUER", "login.example.com"],
    ["BERTH_OIDC_TOKEN_URI", "http://tokens.example.com"],
    ["BERTH_OIDC_TOKEN_URI", "token"],
    ["BERTH_OIDC_ISSUER", "http://login.example.com"],
    ["BERTH_OIDC_ISSUER", "https://login.example.com/?x=1"],
    ["BERTH_OIDC_ISSUER", "https://login.example.com/#x"],
    ["BERTH_OIDC_ISSUER", "https://a:b@login.example.com"],
    ["BERTH_OIDC_ISSUER", `https://login.example.com/${"x".repeat(250)}`],
    ["BERTH_OIDC_AUDIENCE", "a\nb"],
    ["BERTH_OIDC_JWKS_URI", "http://keys.example.com/"],
    ["BERTH_OIDC_ALGORITHMS", "HS256"],
    ["BERTH_OIDC_ALGORITHMS", "none"],
    ["BERTH_OIDC_ALGORITHMS", "RS256,"],
    ["BERTH_OIDC_TOKENS", "refresh"],
    ["BERTH_OIDC_TENANT_CLAIM", "a..b"],
    ["BERTH_OIDC_TENANT_CLAIM", ".a"],
    ["BERTH_OIDC_TENANT_CLAIM", "a."],
    ["BERTH_OIDC_TENANT_CLAIM", "a,b"],
    ["BERTH_OIDC_TENANT_CLAIM", "a b"],
    ["BERTH_OIDC_TENANT_CLAIM", String.raw`a\b`],
    ["BERTH_OIDC_TENANT_CLAIM", "a.b.c.d.e.f.g.h.i"],
    ["BERTH_OIDC_ROLE_CLAIM", "a,,b"],
    ["BERTH_OIDC_ROLE_MAP", "vision=tenant-admin"],
    ["BERTH_OIDC_ROLE_MAP", "{}"],
    ["BERTH_OIDC_ROLE_MAP", '{"vision":"admin"}'],
    ["BERTH_OIDC_ROLE_MAP", '{"vision":{"tenantId":"a/b","role":"tenant-admin"}}'],
    ["BERTH_OIDC_ROLE_MAP", '{"vision":{"tenant":"vision","role":"tenant-admin"}}'],
  ])("refuse %s=%s in one line that names it", (name, value) => {
    const problems = problemsOf({ ...WHOLE, BERTH_OIDC_CLIENT_ID: "console", [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} must be `));
  });

  it("refuse a combination by which nobody could sign in, or of which a part would never be looked at", () => {
    const { BERTH_OIDC_TENANT_CLAIM: _, ...noTenant } = WHOLE;
    const mapped = '{"vision":{"tenantId":"vision","role":"tenant-viewer"}}';
    const cases: [Record<string, string>, string[]][] = [
      [{ BERTH_OIDC_AUDIENCE: "berth" }, ["BERTH_OIDC_ISSUER must be set"]],
      [{ BERTH_OIDC_CLIENT_ID: "console" }, ["BERTH_OIDC_ISSUER must be set"]],
      [
        { ...WHOLE, BERTH_OIDC_TOKEN_URI: "https://tokens.example.com/token" },
        ["BERTH_OIDC_CLIENT_ID must be set"],
      ],
      [
        { BERTH_OIDC_ISSUER: "https://login.example.com" },
        [
          "BERTH_OIDC_AUDIENCE must be set",
          "BERTH_OIDC_ROLE_CLAIM must be set",
          "BERTH_OIDC_TENANT_CLAIM must be set",
        ],
      ],
      [noTenant, ["BERTH_OIDC_TENANT_CLAIM must be set"]],
      [
        { ...noTenant, BERTH_OIDC_ROLE_MAP: '{"vision":"tenant-viewer"}' },
        ["BERTH_OIDC_TENANT_CLAIM must be set"],
      ],
      [{ ...WHOLE, BERTH_OIDC_ROLE_MAP: mapped }, ["BERTH_OIDC_TENANT_CLAIM must not be set"]],
    ];
    for (const [environment, expected] of cases) {
      const problems = problemsOf(environment);
      expect(problems).toHaveLength(expected.length);
      for (const [at, begin] of expected.entries()) expect(problems[at]).toMatch(begin);
    }
  });
});
