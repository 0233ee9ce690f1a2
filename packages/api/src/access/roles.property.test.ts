/** Cedar and a model of a page decide alike, whatever the tree, the names, the narrowing and the thing. */
import { ACTIONS, ROLES } from "@berth/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Principal, TenantScope, VisibleNode, VisiblePool } from "../call.ts";
import { mayDo } from "../testing/roles-model.ts";
import { logInto } from "../testing/test-api.ts";
import { type Resource, loadPolicies } from "./policy.ts";
import { actionInScope } from "./scope.ts";

/** Names that look like policy text, and some of the same letters. */
const name = fc.oneof(
  fc.constantFrom("a", "a:b", "a::b", '"', "\\", '\\"', 'Berth::Tenant::"a"', "a/b", "ä", " "),
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }),
);

/** Each tenant with the tenants above it, nearest first. */
const tree = fc
  .uniqueArray(name, { minLength: 1, maxLength: 8 })
  .chain((ids) =>
    fc.tuple(
      fc.constant(ids),
      ...ids.map((_, at) => fc.option(fc.nat({ max: Math.max(0, at - 1) }))),
    ),
  )
  .map(([ids, ...parents]): TenantScope[] => {
    const scopes: TenantScope[] = [];
    for (const [at, tenantId] of ids.entries()) {
      const parent = at === 0 ? null : (parents[at] ?? null);
      const above = parent === null ? undefined : scopes[parent];
      scopes.push({ tenantId, ancestors: above ? [above.tenantId, ...above.ancestors] : [] });
    }
    return scopes;
  });

const pool = fc.record({
  poolId: fc.constant<VisiblePool["poolId"]>("pool_00000000000000000000000000"),
  ownerId: name,
  owned: fc.boolean(),
  archived: fc.boolean(),
  version: fc.constant(1),
  gpuModel: fc.option(name),
  class: fc.constantFrom("metal-host", "metal-vm", "provider") as fc.Arbitrary<
    VisiblePool["class"]
  >,
  sharing: fc.constantFrom("exclusive", "mig", "timeslice", "mps"),
  region: name,
  offeredTenantId: name,
  descendant: fc.boolean(),
});
const standing = fc.option(
  fc.record({ asFleet: fc.constant(false), owned: fc.boolean(), managed: fc.boolean() }),
  { nil: undefined },
);

function thing(scopes: readonly TenantScope[]): fc.Arbitrary<Resource> {
  const scope = fc.constantFrom(...scopes);
  const node = fc.record({
    id: fc.constant<VisibleNode["id"]>("node_00000000000000000000000000"),
    siteId: fc.constant<VisibleNode["siteId"]>("site_00000000000000000000000000"),
    tenantId: scope.map(({ tenantId }) => tenantId),
    gateId: fc.constant<VisibleNode["gateId"]>("node_00000000000000000000000000"),
    poolId: fc.option(fc.constant<VisiblePool["poolId"]>("pool_00000000000000000000000000")),
  });
  return fc.oneof(
    fc.constant<Resource>({ kind: "compute-fleet" }),
    scope.map((of): Resource => ({ kind: "compute-tenant", scope: of })),
    fc
      .tuple(scope, pool)
      .map(([of, p]): Resource => ({ kind: "compute-pool", scope: of, pool: p })),
    fc.tuple(scope, node, standing).map(([of, n, s]): Resource => ({
      kind: "compute-node",
      scope: of,
      node: n,
      ...(s ? { standing: s } : {}),
    })),
  );
}

const policies = loadPolicies({ directory: null, log: logInto([]) });

/** Mostly an action that is for such a thing, by somebody who has to do with its tenant. */
const asked = tree
  .chain((scopes) => fc.tuple(fc.constant(scopes), thing(scopes)))
  .chain(([scopes, resource]) => {
    const near = "scope" in resource ? [resource.scope.tenantId, ...resource.scope.ancestors] : [];
    const everybody = [...near, ...near, ...scopes.map(({ tenantId }) => tenantId)];
    const fitting = ACTIONS.filter((action) => policies.knows(action, resource.kind));
    return fc.record({
      tenantId: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...everybody) }, name),
      keyName: name,
      role: fc.constantFrom(...ROLES),
      actions: fc.option(fc.subarray([...ACTIONS]), { nil: undefined, freq: 2 }),
      action: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom<string>(...fitting) },
        { weight: 9, arbitrary: fc.constantFrom<string>(...ACTIONS) },
        // Also what every object answers to.
        fc.oneof(fc.string(), fc.constantFrom("toString", "constructor", "__proto__")),
      ),
      resource: fc.constant(resource),
    });
  });

test("Cedar decides as the model of the roles does", () => {
  const counts = { allowed: 0, denied: 0 };
  fc.assert(
    fc.property(asked, ({ tenantId, keyName, role, actions, action, resource }) => {
      const who: Principal = {
        id: `${tenantId}/${keyName}`,
        tenantId,
        name: keyName,
        role,
        scope: actions ? { actions } : null,
        credential: "key",
        keyId: "key_00000000000000000000000000",
        expiresAt: null,
      };
      const decided = actionInScope(who, action) && policies.decide(who, action, resource);
      counts[decided ? "allowed" : "denied"] += 1;
      expect(decided).toBe(mayDo(who, action, resource));
    }),
    { numRuns: 2_000 },
  );
  // Neither answer is a corner of the space.
  expect(counts.allowed).toBeGreaterThan(300);
  expect(counts.denied).toBeGreaterThan(300);
});
