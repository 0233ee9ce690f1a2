/** Makes a pool on a site of the tenant; a repeated key answers the pool that it made. */
import type { Input, Output } from "@berth/contract";
import {
  type CreatePoolAsk,
  OWNER_QUOTA_DEFAULT,
  type PoolId,
  createPool,
  createPoolIssues,
  freshId,
  ok,
  poolAgent,
} from "@berth/domain";
import { GateExists, derive } from "@berth/engine";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, TenantScope } from "../../call.ts";
import { conflict, fromRefusal, notFound } from "../../errors.ts";
import { ownSight } from "./change-pool.ts";
import { sealToken } from "./seal.ts";
import { ownsProviderAccount, poolRecords, siteFacts } from "./store.ts";
import { storedPool } from "./stored-pool.ts";
import { poolView, recordOf } from "./view.ts";

type CreateInput = Input<"pools.create">;

export const create: Handler<"pools.create"> = {
  check(input) {
    const { agent, policy = {}, providerAccountId = null } = input;
    // What the site's kind forbids is known with the site.
    return createPoolIssues({ class: input.class, agent, policy, providerAccountId }, null);
  },

  replay: (call, input, scope) => replay(call, input, scope),

  async run(call, input, scope) {
    const { db, engine, random } = call.deps;

    // 1. The site, and the provider account, are the tenant's own.
    const { site, now } = await siteFacts(db, input.siteId);
    if (site?.tenantId !== scope.tenantId) throw notFound("no such site of the tenant");
    const account = input.providerAccountId ?? null;
    if (account !== null && !(await ownsProviderAccount(db, scope.tenantId, account)))
      throw notFound("no such provider account of the tenant");

    // 2. With a key the id follows from it, so a retry meets the same gate.
    const poolId = keyedId(call, input, scope) ?? freshId("pool", now, random(10));
    const policy = input.policy ?? {};
    const token = policy.kubernetes?.token;
    const ask: CreatePoolAsk = {
      poolId,
      tenantId: scope.tenantId,
      siteId: input.siteId,
      siteKind: site.kind,
      region: site.region,
      class: input.class,
      gpuModel: input.gpuModel ?? null,
      sharing: input.sharing,
      agent: input.agent,
      policy,
      ownerQuota: input.ownerQuota ?? OWNER_QUOTA_DEFAULT,
      providerAccountId: account,
      createdBy: call.principal.id,
    };

    // 3. The new gate with the pool in it; somebody else's same key may have been faster.
    try {
      const committed = await engine.submit(poolId, {
        name: call.method,
        tenantId: scope.tenantId,
        signal: call.signal,
        create: true,
        poolKey: input.idempotencyKey,
        secret: token === undefined ? null : sealToken(call, poolId, token),
        plan(turn) {
          const made = createPool(turn, ask);
          const sight = ownSight(scope.tenantId);
          return made.ok ? ok(poolView(recordOf(turn.state, turn.now), sight)) : made;
        },
      });
      call.answer.seq = committed.seq;
      if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
      return committed.value.value;
    } catch (thrown) {
      const stored = thrown instanceof GateExists ? await replay(call, input, scope) : undefined;
      if (stored === undefined) throw thrown;
      return stored;
    }
  },
};

/** The pool that the key made, when it is the same request; undefined when the key is free. */
async function replay(
  call: Call,
  input: CreateInput,
  scope: TenantScope,
): Promise<Output<"pools.create"> | undefined> {
  const poolId = keyedId(call, input, scope);
  if (poolId === null) return undefined;
  const [stored] = await poolRecords(call.deps.db, [{ poolId, quotasOf: null }]);
  if (!stored) return undefined;
  if (stored.tenantId !== scope.tenantId) throw notFound("a derived pool id of another owner");
  const same =
    stored.siteId === input.siteId &&
    stored.class === input.class &&
    stored.sharing === input.sharing &&
    stored.agent === poolAgent(input) &&
    stored.providerAccountId === (input.providerAccountId ?? null);
  // Another key of the same principal may be limited to other pools: it learns nothing of this one.
  if (!poolInScope(call.principal, poolId)) return undefined;
  if (!same)
    throw conflict("key", {
      message: "The key made a pool with another site, class, sharing, agent or provider account.",
      ids: [poolId],
    });
  call.answer.replayed = true;
  return storedPool(call, { poolId, ...ownSight(scope.tenantId) });
}

function keyedId(call: Call, input: CreateInput, scope: TenantScope): PoolId | null {
  const key = input.idempotencyKey;
  return key === undefined
    ? null
    : derive("pool", "create", [scope.tenantId, call.principal.id, key]);
}
