/** Makes an empty pool on a site of its owner. */
import type { PoolId, ProviderAccountId, SiteId, TenantId } from "../ids.ts";
import type { Agent, PoolClass, PoolConfig, SharingMode } from "../model.ts";
import { type InputIssue, type Result, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { type QuotaMap, changeConfig, replaceQuota, resizeQuota, tellPool } from "./config.ts";
import { knownTables } from "./mig-layout.ts";
import { type PolicyInput, policyIssues, storedPolicy } from "./policy.ts";

/** An owner that names no quota may use all of its GPUs. */
export const OWNER_QUOTA_DEFAULT: QuotaMap = { gpu: 2_147_483_647 };

export interface CreatePoolAsk {
  readonly poolId: PoolId;
  readonly tenantId: TenantId;
  readonly siteId: SiteId;
  readonly siteKind: PoolConfig["siteKind"];
  readonly region: string;
  readonly class: PoolClass;
  readonly gpuModel: string | null;
  readonly sharing: SharingMode;
  /** Absent: `none` for a provider pool, else `bcd`. */
  readonly agent?: Agent | undefined;
  readonly policy: PolicyInput;
  readonly ownerQuota: QuotaMap;
  readonly providerAccountId: ProviderAccountId | null;
  readonly createdBy: string;
}

/** The pool at version 1. Who may make it, and that site and account are the tenant's, is checked before. */
export function createPool(turn: Turn, ask: CreatePoolAsk): Result<PoolConfig> {
  const issues = createPoolIssues(ask, ask.siteKind);
  if (issues.length > 0) return refuse({ code: "INVALID_INPUT", issues });
  const config: PoolConfig = {
    id: ask.poolId,
    tenantId: ask.tenantId,
    siteId: ask.siteId,
    siteKind: ask.siteKind,
    region: ask.region,
    class: ask.class,
    gpuModel: ask.gpuModel,
    sharing: ask.sharing,
    agent: poolAgent(ask),
    policy: storedPolicy(ask.policy),
    providerAccountId: ask.providerAccountId,
    version: 1,
    archivedAt: null,
    createdBy: ask.createdBy,
    createdAt: turn.now,
    updatedAt: turn.now,
    offers: [],
    quotas: replaceQuota([], ask.tenantId, resizeQuota(turn, ask.tenantId, ask.ownerQuota)),
  };
  changeConfig(turn, null, config);
  const { siteId, gpuModel, sharing, version } = config;
  tellPool(turn, "pool.created", {
    config,
    owner: { siteId, class: config.class, gpuModel, sharing, version },
  });
  return ok(config);
}

/** The agent that a pool gets when none is named. */
export function poolAgent(ask: Pick<CreatePoolAsk, "agent" | "class">): Agent {
  return ask.agent ?? (ask.class === "provider" ? "none" : "bcd");
}

/** What is wrong with the request; of what the kind of site forbids only when it is given. */
export function createPoolIssues(
  ask: Pick<CreatePoolAsk, "class" | "agent" | "providerAccountId" | "policy">,
  siteKind: PoolConfig["siteKind"] | null,
): InputIssue[] {
  const issues: InputIssue[] = [];
  if (ask.class === "provider") {
    if (ask.providerAccountId === null)
      issues.push({
        path: ["providerAccountId"],
        message: "a provider pool names the account that its machines are rented with",
      });
    if (poolAgent(ask) !== "none")
      issues.push({ path: ["agent"], message: 'a provider pool has no agent: "none"' });
  } else if (ask.providerAccountId !== null) {
    issues.push({
      path: ["providerAccountId"],
      message: "only a provider pool has a provider account",
    });
  }
  return [...issues, ...policyIssues(ask.policy, { siteKind, tables: knownTables })];
}
