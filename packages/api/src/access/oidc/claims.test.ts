/** What a token's claims make of its holder: one tenant, one role, or nobody. */
import { describe, expect, test } from "vitest";
import { kindProblem, standingOf } from "./claims.ts";
import type { OidcSettings, RoleGrant } from "./settings.ts";

const settings = (changes: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer: "https://login.example.com",
  audience: "berth",
  jwksUri: null,
  algorithms: ["RS256"],
  tokens: "access",
  tenantClaim: ["tenant"],
  roleClaims: [["roles"]],
  roleMap: null,
  ...changes,
});
const map = (entries: Record<string, RoleGrant>) => new Map(Object.entries(entries));

describe("without a map the values are names of roles", () => {
  const cases: [string, object, unknown][] = [
    ["a list", { tenant: "lab", roles: ["tenant-viewer"] }, ["lab", "tenant-viewer"]],
    ["one text", { tenant: "lab", roles: "tenant-admin" }, ["lab", "tenant-admin"]],
    [
      "a tenant as a list of one",
      { tenant: ["lab"], roles: "fleet-admin" },
      ["lab", "fleet-admin"],
    ],
    [
      "the same tenant twice",
      { tenant: ["lab", "lab"], roles: "tenant-admin" },
      ["lab", "tenant-admin"],
    ],
    [
      "others beside it",
      { tenant: "lab", roles: ["offline_access", "tenant-operator", 7, null] },
      ["lab", "tenant-operator"],
    ],
    [
      "the strongest of several",
      { tenant: "lab", roles: ["tenant-operator", "tenant-admin", "tenant-viewer"] },
      ["lab", "tenant-admin"],
    ],
    ["no role claim", { tenant: "lab" }, "unmapped"],
    [
      "no role of ours",
      { tenant: "lab", roles: ["admin", "Tenant-Admin", "tenant-admin "] },
      "unmapped",
    ],
    ["an object for roles", { tenant: "lab", roles: { "tenant-admin": true } }, "unmapped"],
    ["a list in a list", { tenant: "lab", roles: [["tenant-admin"]] }, "unmapped"],
    ["no tenant claim", { roles: ["tenant-admin"] }, "no-tenant"],
    ["a tenant that is a number", { tenant: 7, roles: ["tenant-admin"] }, "no-tenant"],
    ["a tenant that is no id", { tenant: "a/b", roles: ["tenant-admin"] }, "no-tenant"],
    ["an empty tenant", { tenant: "", roles: ["tenant-admin"] }, "no-tenant"],
    ["two tenants", { tenant: ["lab", "vision"], roles: ["tenant-viewer"] }, "several-tenants"],
    [
      "a tenant and a text that is none",
      { tenant: ["lab", "a/b"], roles: ["tenant-viewer"] },
      "several-tenants",
    ],
  ];
  test.each(cases)("%s", (_name, claims, expected) => {
    const found = standingOf({ ...claims }, settings());
    expect(typeof found === "string" ? found : [found.tenantId, found.role]).toEqual(expected);
  });
});

describe("with a map only what it names counts", () => {
  const roleMap = map({
    admins: { role: "fleet-admin", tenantId: "platform" },
    vision: { role: "tenant-operator", tenantId: "vision" },
    "vision-leads": { role: "tenant-admin", tenantId: "vision" },
    readers: { role: "tenant-viewer", tenantId: null },
  });
  const cases: [string, object, unknown][] = [
    ["a value with its tenant", { roles: ["vision"] }, ["vision", "tenant-operator"]],
    [
      "the strongest on one tenant",
      { roles: ["vision", "vision-leads"] },
      ["vision", "tenant-admin"],
    ],
    [
      "the name of a role is nothing by itself",
      { tenant: "lab", roles: ["fleet-admin"] },
      "unmapped",
    ],
    [
      "names of objects' own are nothing",
      { tenant: "lab", roles: ["__proto__", "constructor"] },
      "unmapped",
    ],
    ["roles on two tenants, even the fleet's", { roles: ["vision", "admins"] }, "several-tenants"],
    [
      "a role without a tenant, on the claimed one",
      { tenant: "lab", roles: ["readers"] },
      ["lab", "tenant-viewer"],
    ],
    [
      "the claimed tenant is not looked at for others",
      { tenant: "lab", roles: ["vision"] },
      ["vision", "tenant-operator"],
    ],
    [
      "a claimed and a mapped one that differ",
      { tenant: "lab", roles: ["readers", "vision"] },
      "several-tenants",
    ],
    [
      "a claimed and a mapped one that agree",
      { tenant: "vision", roles: ["readers", "vision"] },
      ["vision", "tenant-operator"],
    ],
    [
      "a role that lacks its tenant is not lent another's",
      { roles: ["readers", "vision"] },
      "no-tenant",
    ],
  ];
  test.each(cases)("%s", (_name, claims, expected) => {
    const found = standingOf({ ...claims }, settings({ roleMap }));
    expect(typeof found === "string" ? found : [found.tenantId, found.role]).toEqual(expected);
  });
});

describe("a path leads to a claim", () => {
  const at = (tenantClaim: string[], claims: object) =>
    standingOf({ roles: "tenant-viewer", ...claims }, settings({ tenantClaim }));

  test("through objects, and through names that hold dots", () => {
    const lab = { tenantId: "lab", role: "tenant-viewer" };
    expect(at(["a", "b.c"], { a: { "b.c": "lab" } })).toEqual(lab);
    expect(at(["https://x.example.com/tenant"], { "https://x.example.com/tenant": "lab" })).toEqual(
      lab,
    );
  });

  test("and never through a list, a text or a prototype", () => {
    expect(at(["a", "0"], { a: ["lab"] })).toBe("no-tenant");
    expect(at(["a", "length"], { a: "lab" })).toBe("no-tenant");
    expect(at(["constructor", "name"], {})).toBe("no-tenant");
  });

  test("of several role claims all count", () => {
    const roleClaims = [["realm_access", "roles"], ["groups"]];
    const claims = {
      tenant: "lab",
      realm_access: { roles: ["tenant-viewer"] },
      groups: ["tenant-admin"],
    };
    expect(standingOf(claims, settings({ roleClaims }))).toEqual({
      tenantId: "lab",
      role: "tenant-admin",
    });
  });
});

describe("the kind of a token", () => {
  // As the issuers make them, shortened to what tells them apart.
  const access: [string, object][] = [
    ["Keycloak", { typ: "Bearer", azp: "cli", scope: "openid", sid: "x" }],
    ["Entra ID, a person", { scp: "Berth.Use", azp: "x", ver: "2.0" }],
    ["Entra ID, an app", { roles: ["Berth.Operator"], azp: "x", idtyp: "app" }],
    ["Entra ID, version 1", { appid: "x", scp: "Berth.Use", ver: "1.0" }],
    ["Okta", { scp: ["berth"], cid: "x" }],
    ["Auth0", { scope: "book", azp: "x" }],
    ["Cognito", { token_use: "access", client_id: "x" }],
  ];
  const id: [string, object][] = [
    ["Keycloak", { typ: "ID", azp: "cli", at_hash: "x", sid: "x" }],
    ["Entra ID", { nonce: "x", ver: "2.0", tid: "x", roles: ["Berth.Operator"] }],
    ["Entra ID, without a nonce", { ver: "2.0", tid: "x", preferred_username: "x" }],
    ["Dex", { at_hash: "x", email: "x", groups: ["g"] }],
    ["Cognito", { token_use: "id", "cognito:username": "x" }],
    ["a CI system", { job_workflow_ref: "x", repository: "x" }],
  ];
  const neither: [string, object][] = [
    ["Keycloak's refresh token", { typ: "Refresh", scope: "openid", azp: "x" }],
    ["Keycloak's offline token", { typ: "Offline", scope: "openid", azp: "x" }],
    [
      "a logout token",
      { events: { "http://schemas.openid.net/event/backchannel-logout": {} }, azp: "x" },
    ],
  ];
  const ids = settings({ tokens: "id" });

  test.each(access)(
    "%s: its access token is taken where those are, and only there",
    (_name, claims) => {
      expect(kindProblem({ ...claims }, settings(), false)).toBeNull();
    },
  );
  test.each(id)("%s: its ID token is refused where access tokens are taken", (_name, claims) => {
    expect(kindProblem({ ...claims }, settings(), false)).toBe("kind");
    expect(kindProblem({ ...claims }, ids, false)).toBeNull();
  });
  test.each(neither)("%s is neither", (_name, claims) => {
    expect(kindProblem({ ...claims }, settings(), false)).toBe("kind");
    expect(kindProblem({ ...claims }, ids, false)).toBe("kind");
  });
  test("a token that says it is an access token is no ID token", () => {
    expect(kindProblem({}, settings(), true)).toBeNull();
    expect(kindProblem({}, ids, true)).toBe("kind");
  });
  test("a token bound to its holder's key is no bearer's, of whatever kind", () => {
    for (const each of [settings(), ids])
      for (const says of [true, false])
        expect(kindProblem({ cnf: { jkt: "x" } }, each, says)).toBe("bound");
  });
});
