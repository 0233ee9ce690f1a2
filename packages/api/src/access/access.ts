/** Who may do what: keys at the door, scope, and the policies' decision, as the rest of the API sees it. */
import type { Database } from "@berth/db";
import type { Log, Principal } from "../call.ts";
import { type Keys, createKeys } from "./keys.ts";
import { type Resource, type ResourceKind, loadPolicies } from "./policy.ts";
import { actionInScope } from "./scope.ts";

export interface Access {
  /** The principal of a bearer token; null = refused. */
  authenticate(token: string): Promise<Principal | null>;
  /** Scope and policies: whether the principal may do it. */
  decide(principal: Principal, action: string, resource: Resource): boolean;
  /** Whether policies can speak of this action on this kind of thing. */
  knows(action: string, kind: ResourceKind): boolean;
  forget: Keys["forget"];
}

export interface AccessOptions {
  readonly db: Database;
  readonly log: Log;
  /** A folder of further `*.cedar` files. */
  readonly policyDirectory?: string | null | undefined;
}

/** @throws PolicyError when a policy cannot be used */
export function createAccess(options: AccessOptions): Access {
  const { db, log } = options;
  const policies = loadPolicies({ directory: options.policyDirectory ?? null, log });
  const keys = createKeys(db, log);
  return {
    authenticate: keys.authenticate,
    forget: keys.forget,
    knows: policies.knows,
    decide: (principal, action, resource) =>
      actionInScope(principal, action) && policies.decide(principal, action, resource),
  };
}
