import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ACTIONS } from "@berth/contract";
import { afterEach, describe, expect, test } from "vitest";
import { type Principal, ROLES, type Role, type VisiblePool } from "../call.ts";
import { mayDo } from "../testing/roles-model.ts";
import { type LogLine, logInto } from "../testing/test-api.ts";
import { type Policies, PolicyError, type Resource, loadPolicies } from "./policy.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function load(files: Record<string, string> = {}, lines: LogLine[] = []): Policies {
  const log = logInto(lines);
  return loadPolicies({ directory: Object.keys(files).length === 0 ? null : folder(files), log });
}

function folder(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), "berth-policies-"));
  folders.push(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

function principal(role: Role, tenantId = "t"): Principal {
  const id = JSON.stringify([tenantId, "ci"]);
  const keyId = "key_00000000000000000000000000";
  return { id, tenantId, name: "ci", role, scope: null, credential: "key", keyId, expiresAt: null };
}

const own = { tenantId: "t", ancestors: [] };
const child = { tenantId: "c", ancestors: ["t", "top"] };
const other = { tenantId: "x", ancestors: [] };
const pool: VisiblePool = {
  poolId: "pool_00000000000000000000000000",
  ownerId: "t",
  owned: true,
  archived: false,
  version: 1,
  gpuModel: "H100",
  class: "metal-host",
  sharing: "exclusive",
  region: "eu-1",
  offeredTenantId: "t",
  descendant: false,
};
const ownPool: Resource = { kind: "compute-pool", scope: own, pool };

describe("roles and actions", () => {
  const shipped = load();
  const node = {
    id: "node_00000000000000000000000000",
    siteId: "site_00000000000000000000000000",
    tenantId: "t",
    gateId: "node_00000000000000000000000000",
    poolId: null,
  } as const;
  const things: Resource[] = [own, child, other].flatMap((scope): Resource[] => [
    { kind: "compute-tenant", scope },
    { kind: "compute-pool", scope, pool },
    { kind: "compute-pool", scope, pool: { ...pool, owned: false, gpuModel: null } },
    { kind: "compute-node", scope, node: { ...node, tenantId: scope.tenantId } },
    { kind: "compute-node", scope, node: { ...node, tenantId: "elsewhere" } },
    {
      kind: "compute-node",
      scope,
      node: { ...node, tenantId: "elsewhere" },
      standing: { asFleet: false, owned: false, managed: true },
    },
  ]);
  things.push({ kind: "compute-fleet" });

  for (const role of ROLES)
    test(`${role} may exactly what the model says`, () => {
      for (const action of ACTIONS)
        for (const resource of things) {
          const got = shipped.decide(principal(role), action, resource);
          expect([action, resource, got]).toEqual([
            action,
            resource,
            mayDo(principal(role), action, resource),
          ]);
        }
    });

  test("an action that nobody defined is denied to all but nobody", () => {
    for (const role of ROLES)
      expect(shipped.decide(principal(role), "compute:units:sell", ownPool)).toBe(false);
  });

  test("tenant ids that look like policy text are only ids", () => {
    for (const id of ['"', '::"', "\\", 'x" || true', "Berth::Tenant"]) {
      const scope = { tenantId: id, ancestors: [] };
      const resource: Resource = { kind: "compute-tenant", scope };
      expect(shipped.decide(principal("tenant-admin", id), "compute:pools:read", resource)).toBe(
        true,
      );
      expect(shipped.decide(principal("tenant-admin"), "compute:pools:read", resource)).toBe(false);
    }
  });
});

describe("a folder of policies", () => {
  test("can forbid by an attribute of the pool, and a second question gets the same answer", () => {
    const text = `forbid (principal, action == Berth::Action::"compute:reservations:create", resource is Berth::Pool)
      when { resource has gpuModel && resource.gpuModel == "H100" };`;
    const policies = load({ "no-h100.cedar": text });
    const create = (of: VisiblePool) =>
      policies.decide(principal("tenant-operator"), "compute:reservations:create", {
        ...ownPool,
        pool: of,
      });
    expect([create(pool), create({ ...pool, gpuModel: "L4" }), create(pool)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("denies what a failing policy speaks of, and says which failed", () => {
    const lines: LogLine[] = [];
    const text = `forbid (principal, action, resource) when { 9223372036854775807 + 1 > 0 };`;
    const policies = load({ "broken.cedar": text }, lines);
    expect(policies.decide(principal("fleet-admin"), "compute:pools:read", ownPool)).toBe(false);
    expect(JSON.stringify(lines)).toContain("broken.cedar#1");
  });

  const bad: Record<string, string> = {
    "a syntax error": "permit (principal, action, resource",
    "an unknown attribute":
      'permit (principal, action == Berth::Action::"compute:pools:share", resource) when { resource.nope };',
    "an attribute that may be missing":
      'permit (principal, action == Berth::Action::"compute:pools:share", resource) when { resource.gpuModel == "x" };',
    "an unknown action":
      'forbid (principal, action == Berth::Action::"compute:pools:shere", resource);',
    "a type error": "permit (principal, action, resource) when { 1 == principal.name };",
    "`in` on a text":
      'forbid (principal, action, resource is Berth::Pool) when { resource.region in ["eu", "us"] };',
    "`in` on a number": "forbid (principal, action, resource) when { 1 in principal.tenant };",
    "a rule that never applies":
      'forbid (principal, action == Berth::Action::"compute:fleet:manage", resource is Berth::Pool);',
    "a template": "permit (principal == ?principal, action, resource);",
  };
  for (const [name, text] of Object.entries(bad))
    test(`with ${name} stops the start and names the file`, () => {
      expect(() => load({ "site.cedar": text })).toThrow(PolicyError);
      expect(() => load({ "site.cedar": text })).toThrow(/site\.cedar/);
    });

  const many = (count: number) =>
    Array.from(
      { length: count },
      (_, at) =>
        `forbid (principal, action == Berth::Action::"compute:reservations:create", resource is Berth::Pool)
          when { resource.region == "r${at}" };`,
    ).join("\n");

  test("with a thousand policies heeds each, and with more stops the start", () => {
    const policies = load({ "many.cedar": many(1_000) });
    const create = (region: string) =>
      policies.decide(principal("tenant-operator"), "compute:reservations:create", {
        ...ownPool,
        pool: { ...pool, region },
      });
    expect([create("r0"), create("r999"), create("r1000")]).toEqual([false, false, true]);
    expect(() => load({ "many.cedar": many(600), "more.cedar": many(401) })).toThrow(
      /holds 1001 policies; at most 1000/,
    );
  });

  test("with ten thousand is refused before they are compared with each other", () => {
    expect(() => load({ "many.cedar": many(10_000) })).toThrow(PolicyError);
  });

  test("counts each decision that a failing policy denied", () => {
    const directory = mkdtempSync(join(tmpdir(), "berth-policies-"));
    folders.push(directory);
    const text = `forbid (principal, action == Berth::Action::"compute:pools:read", resource)
      when { 9223372036854775807 + 1 > 0 };`;
    writeFileSync(join(directory, "broken.cedar"), text);
    let failed = 0;
    const observer = { policyFailed: () => void (failed += 1) };
    const policies = loadPolicies({ directory, log: logInto([]), observer });
    const admin = principal("tenant-admin");
    expect(policies.decide(admin, "compute:pools:read", ownPool)).toBe(false);
    expect(policies.decide(admin, "compute:pools:share", ownPool)).toBe(true);
    expect(failed).toBe(1);
  });

  test("that is not there stops the start", () => {
    const log = logInto([]);
    expect(() => loadPolicies({ directory: "/nonexistent/berth", log })).toThrow(PolicyError);
  });

  const FORBID = "forbid (principal, action, resource);";

  test.for<[string, Record<string, string>, RegExp]>([
    ["is empty", {}, /holds no policy: is it the one that is meant/],
    ["has a file of comments alone", { "a.cedar": "// forbid all" }, /a\.cedar: holds no policy/],
    ["has another ending", { "a.cedar": FORBID, "b.cedar.txt": FORBID }, /b\.cedar\.txt: is no/],
    ["has the ending in capitals", { "a.CEDAR": FORBID }, /a\.CEDAR: is no \*\.cedar file/],
  ])(
    "that %s stops the start: a rule that nobody reads is one that somebody believes in",
    ([, files, says]) => {
      const directory = folder(files);
      const load = () => loadPolicies({ directory, log: logInto([]) });
      expect(load).toThrow(PolicyError);
      expect(load).toThrow(says);
    },
  );

  test.for(["sub", "sub.cedar"])("with a folder %s in it stops the start and names it", (name) => {
    const directory = folder({ "a.cedar": FORBID });
    mkdirSync(join(directory, name));
    const load = () => loadPolicies({ directory, log: logInto([]) });
    expect(load).toThrow(PolicyError);
    expect(load).toThrow(name);
  });

  test("may have what a mounting system keeps under names with a dot, and says what it holds", () => {
    const lines: LogLine[] = [];
    load({ "a.cedar": FORBID, "..data": "of the mount" }, lines);
    expect(lines).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ policies: 1 }) }),
    );
  });
});
