/** A pool's policy: one validator a part, each said in words that name what to change. */
import { parseDuration } from "../duration.ts";
import { REPLICAS_MAX } from "../fleet/units.ts";
import type { PoolConfig, PoolPolicy } from "../model.ts";
import type { InputIssue } from "../refusal.ts";
import { type TablesOf, layoutFault } from "./mig-layout.ts";

/** As the owner writes it: the cluster's token is in it, and goes into a sealed place of its own. */
export interface PolicyInput extends Omit<PoolPolicy, "kubernetes"> {
  readonly kubernetes?:
    | {
        readonly endpoint?: string | undefined;
        readonly token?: string | undefined;
        readonly caHash?: string | undefined;
      }
    | undefined;
}

export const REPLICAS_MIN = 2;
export const HUGEPAGES_MAX = 65_536;
export const POLICY_LIST_MAX = 64;
export const NOTICE_MAX_SECONDS = 3_600;
const PROFILES_MAX = 7;
const KUBERNETES_PARTS = ["endpoint", "token", "caHash"] as const;

/** Where the policy is to hold. What depends on a part that is null is not looked at. */
export interface PolicyPlace {
  readonly siteKind: PoolConfig["siteKind"] | null;
  readonly tables: TablesOf | null;
}

type Complaint = { readonly path?: readonly (string | number)[]; readonly message: string } | null;
type Part = Exclude<keyof PolicyInput, "singleTenant" | "platformOperated" | "label" | "placement">;

/** Parts without a rule of their own (`label`, the booleans, `placement`) are settled by their type. */
const VALIDATORS: {
  readonly [P in Part]: (
    part: NonNullable<PolicyInput[P]>,
    policy: PolicyInput,
    place: PolicyPlace,
  ) => Complaint;
} = {
  migLayout: (layout, _policy, { tables }) => {
    const wrong = Object.entries(layout).find(([, p]) => p.length < 1 || p.length > PROFILES_MAX);
    if (wrong)
      return { path: [wrong[0]], message: `a GPU is cut into 1 to ${PROFILES_MAX} instances` };
    return tables && layoutFault(layout, tables);
  },
  sharing: ({ replicas }) =>
    within(replicas, REPLICAS_MIN, REPLICAS_MAX)
      ? null
      : { path: ["replicas"], message: `replicas are ${REPLICAS_MIN} to ${REPLICAS_MAX}` },
  hugepages: (pages) => {
    for (const size of ["size1Gi", "size2Mi"] as const)
      if (!within(pages[size] ?? 0, 0, HUGEPAGES_MAX))
        return { path: [size], message: `hugepages are 0 to ${HUGEPAGES_MAX}` };
    return null;
  },
  kernelModules: atMost64,
  prewarmImages: atMost64,
  kubernetes: (join, policy, { siteKind }) => {
    const missing = KUBERNETES_PARTS.filter((part) => !join[part]);
    if (missing.length > 0)
      return { message: `a join set is given whole: ${missing.join(", ")} missing` };
    if (siteKind === "platform" && policy.platformOperated !== true)
      return {
        message:
          "on a platform site a join set needs platformOperated: true, as it gives root on the nodes",
      };
    return null;
  },
  spot: ({ noticeSeconds }) =>
    within(noticeSeconds, 0, NOTICE_MAX_SECONDS)
      ? null
      : { path: ["noticeSeconds"], message: `a notice is 0 to ${NOTICE_MAX_SECONDS} seconds` },
  maxDuration: duration,
  horizon: duration,
};

/** Every part that the nodes or the rules cannot take; paths begin at `policy`. */
export function policyIssues(policy: PolicyInput, place: PolicyPlace): InputIssue[] {
  return (Object.keys(VALIDATORS) as Part[]).flatMap((part) => {
    const complaint = validate(part, policy, place);
    return complaint
      ? [{ path: ["policy", part, ...(complaint.path ?? [])], message: complaint.message }]
      : [];
  });
}

function validate<P extends Part>(part: P, policy: PolicyInput, place: PolicyPlace): Complaint {
  const value = policy[part];
  return value === undefined
    ? null
    : VALIDATORS[part](value as NonNullable<PolicyInput[P]>, policy, place);
}

/** The policy as it is stored and shown: whole parts only, the token replaced by the fact that it is set. */
export function storedPolicy(input: PolicyInput): PoolPolicy {
  const { kubernetes, ...rest } = input;
  if (!kubernetes) return rest;
  const { endpoint = "", caHash = "" } = kubernetes;
  return { ...rest, kubernetes: { endpoint, caHash, tokenSet: true } };
}

/** A tenant that is not the owner does not see how the machines are run. */
export function guestPolicy(policy: PoolPolicy): PoolPolicy {
  const { kubernetes: _k, hugepages: _h, kernelModules: _m, prewarmImages: _p, ...shown } = policy;
  return shown;
}

function within(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function atMost64(list: readonly string[]): Complaint {
  return list.length <= POLICY_LIST_MAX ? null : { message: `at most ${POLICY_LIST_MAX} entries` };
}

function duration(value: number | string): Complaint {
  const parsed = parseDuration(value);
  return parsed.ok ? null : { message: parsed.message };
}
