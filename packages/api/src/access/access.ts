/** Who may do what: keys and tokens at the door, scope, and the policies' decision, as the rest of the API sees it. */
import type { Database } from "@berth/db";
import type { ApiObserver, Log, Principal } from "../call.ts";
import { type Keys, createKeys } from "./keys.ts";
import { looksLikeJwt } from "./oidc/header.ts";
import type { Oidc } from "./oidc/oidc.ts";
import { REASONS, type Refusal } from "./oidc/refusal.ts";
import { type Resource, type ResourceKind, loadPolicies } from "./policy.ts";
import { actionInScope } from "./scope.ts";

export interface Access {
  /** The principal of a bearer token, or why there is none, for the log. @throws ApiError UNAVAILABLE */
  authenticate(token: string): Promise<Principal | Refused>;
  /** Scope and policies: whether the principal may do it. */
  decide(principal: Principal, action: string, resource: Resource): boolean;
  /** Whether policies can speak of this action on this kind of thing. */
  knows(action: string, kind: ResourceKind): boolean;
  forget: Keys["forget"];
}

/** A bearer token that is nobody's. The caller is told that and nothing more. */
export interface Refused {
  readonly refused: {
    readonly reason: string;
    /** The reason in words. */
    readonly why: string;
    /** Whose token it is, when its issuer did sign it. */
    readonly subject?: string | undefined;
  };
}

export interface AccessOptions {
  readonly db: Database;
  readonly log: Log;
  /** A folder of further `*.cedar` files. */
  readonly policyDirectory?: string | null | undefined;
  readonly observer?: ApiObserver | undefined;
  /** Null = there are no tokens but keys. */
  readonly oidc?: Oidc | null | undefined;
}

/** @throws PolicyError when a policy cannot be used */
export function createAccess(options: AccessOptions): Access {
  const { db, log, oidc, observer } = options;
  const policies = loadPolicies({ directory: options.policyDirectory ?? null, log, observer });
  const keys = createKeys(db, log);
  return {
    async authenticate(token) {
      if (!oidc || !looksLikeJwt(token)) return (await keys.authenticate(token)) ?? NO_KEY;
      const found = await oidc.authenticate(token);
      return "refused" in found ? inWords(found) : found;
    },
    forget: keys.forget,
    knows: policies.knows,
    decide: (principal, action, resource) =>
      actionInScope(principal, action) && policies.decide(principal, action, resource),
  };
}

const NO_KEY: Refused = {
  refused: { reason: "key", why: "no key, or one that is mistyped, revoked or over" },
};

function inWords({ refused: reason, subject }: Refusal): Refused {
  return { refused: { reason, why: REASONS[reason], ...(subject ? { subject } : {}) } };
}
