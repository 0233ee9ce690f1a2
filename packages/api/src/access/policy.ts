/**
 * The decision: Cedar over the shipped policies and the operator's. Strict validation at start; at run
 * time a policy that fails to evaluate denies, because Cedar itself would skip a failing `forbid`.
 */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as cedar from "@cedar-policy/cedar-wasm/nodejs";
import type {
  ApiObserver,
  Log,
  Principal,
  TenantScope,
  UnitStanding,
  VisibleNode,
  VisiblePool,
} from "../call.ts";

/** What an action is done to. */
export type Resource =
  | { readonly kind: "compute-fleet" }
  | { readonly kind: "compute-tenant"; readonly scope: TenantScope }
  | { readonly kind: "compute-pool"; readonly scope: TenantScope; readonly pool: VisiblePool }
  | {
      readonly kind: "compute-node";
      readonly scope: TenantScope;
      readonly node: VisibleNode;
      /** Where it is about the node's unit reservations: what the caller has to do with them. */
      readonly standing?: UnitStanding;
    };
export type ResourceKind = Resource["kind"];

export interface Policies {
  /** Whether the principal may do it. Never throws; any error denies. */
  decide(principal: Principal, action: string, resource: Resource): boolean;
  /** Whether the schema lets this action be done to this kind of thing. */
  knows(action: string, kind: ResourceKind): boolean;
}

export interface PolicyOptions {
  /** A folder of further `*.cedar` files, and of nothing else. */
  readonly directory: string | null;
  readonly log: Log;
  readonly observer?: ApiObserver | undefined;
}

/** A policy that cannot be used; the message names file, policy and fault. Stops the start. */
export class PolicyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PolicyError";
  }
}

const SHIPPED = new URL("./policies/", import.meta.url);
const DECISIONS_MAX = 20_000;
/** A decision looks at each, and lists make hundreds of decisions: ten times as many would stop the server for seconds. */
const POLICIES_MAX = 1_000;
const ENTITY_TYPE: Readonly<Record<ResourceKind, string>> = {
  "compute-fleet": "Berth::Fleet",
  "compute-tenant": "Berth::Tenant",
  "compute-pool": "Berth::Pool",
  "compute-node": "Berth::Node",
};

/**
 * Loads, validates and prepares the shipped policies and those of `directory` (`*.cedar`, by name), and says in the
 * log how many those are.
 * @throws PolicyError
 */
export function loadPolicies(options: PolicyOptions): Policies {
  const schema = readFileSync(new URL("schema.cedarschema", SHIPPED), "utf8");
  const further = readFolder(options.directory);
  const policies = {
    ...partsOf("roles.cedar", readFileSync(new URL("roles.cedar", SHIPPED), "utf8")),
    ...further,
  };
  validate(schema, policies);
  const hash = createHash("sha256")
    .update(JSON.stringify([schema, policies]))
    .digest("hex");
  prepare(hash, schema, policies);
  if (options.directory !== null)
    options.log.info(
      { directory: options.directory, policies: Object.keys(further).length, hash },
      "further policies hold",
    );
  const pairs = appliesTo(schema);
  const cache = new Map<string, boolean>();
  return {
    knows: (action, kind) => pairs.has(`${action} ${ENTITY_TYPE[kind]}`),
    decide(principal, action, resource) {
      const request = toRequest(principal, action, resource);
      const key = JSON.stringify([hash, request]);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const allowed = evaluate(hash, request, options);
      if (cache.size >= DECISIONS_MAX) cache.delete(cache.keys().next().value ?? "");
      cache.set(key, allowed);
      return allowed;
    },
  };
}

/**
 * Each entry has to be a file of policies: a folder that is empty, or a name that is passed over, is a rule that
 * somebody believes in. Names that begin with a dot are the mounting system's own.
 */
function readFolder(directory: string | null): Record<string, string> {
  if (directory === null) return {};
  const names = entriesOf(directory);
  const odd = names.find((name) => !name.endsWith(".cedar"));
  if (odd !== undefined)
    throw new PolicyError(
      `${join(directory, odd)}: is no *.cedar file, and nothing else may be in the policy folder`,
    );
  const policies = Object.assign({}, ...names.map((name) => policiesIn(join(directory, name))));
  const count = Object.keys(policies as object).length;
  if (count === 0)
    throw new PolicyError(
      `policy folder ${directory} holds no policy: is it the one that is meant?`,
    );
  if (count > POLICIES_MAX)
    throw new PolicyError(
      `policy folder ${directory} holds ${count} policies; at most ${POLICIES_MAX}: let one compare with a set`,
    );
  return policies as Record<string, string>;
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .toSorted();
  } catch {
    throw new PolicyError(`policy folder ${directory} cannot be read`);
  }
}

function policiesIn(path: string): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new PolicyError(`${path}: cannot be read as a file`);
  }
  const policies = partsOf(path, text);
  if (Object.keys(policies).length === 0) throw new PolicyError(`${path}: holds no policy`);
  return policies;
}

/** The policies of one file under ids that say where they are. */
function partsOf(file: string, text: string): Record<string, string> {
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === "failure") throw new PolicyError(`${file}: ${sentence(parts.errors)}`);
  if (parts.policy_templates.length > 0)
    throw new PolicyError(`${file}: holds a template; write a policy without slots`);
  return Object.fromEntries(parts.policies.map((policy, at) => [`${file}#${at + 1}`, policy]));
}

/** A warning stops the start as well: a policy that can never apply is a rule that somebody believes in. */
function validate(schema: string, staticPolicies: Record<string, string>): void {
  const answer = cedar.validate({
    validationSettings: { mode: "strict" },
    schema,
    policies: { staticPolicies },
  });
  if (answer.type === "failure") throw new PolicyError(sentence(answer.errors));
  const faults = [...answer.validationErrors, ...answer.validationWarnings];
  const first = faults[0];
  if (first) throw new PolicyError(`${first.policyId}: ${sentence([first.error])}`);
}

function sentence(errors: readonly cedar.DetailedError[]): string {
  return errors.map((error) => [error.message, error.help].filter(Boolean).join("; ")).join(" | ");
}

/** Prepared sets live for ever in wasm memory: the hash as the name lets equal sets share one. */
function prepare(hash: string, schema: string, staticPolicies: Record<string, string>): void {
  for (const answer of [
    cedar.preparseSchema(hash, schema),
    cedar.preparsePolicySet(hash, { staticPolicies }),
  ])
    if (answer.type === "failure") throw new PolicyError(sentence(answer.errors));
}

/** `action Type` for every pair that the schema allows. */
function appliesTo(schema: string): Set<string> {
  const answer = cedar.schemaToJsonWithResolvedTypes(schema);
  if (answer.type === "failure") throw new PolicyError(sentence(answer.errors));
  const actions = Object.entries(answer.json["Berth"]?.actions ?? {});
  return new Set(
    actions.flatMap(([action, { appliesTo: spec }]) =>
      (spec?.resourceTypes ?? []).map((type) => `${action} ${qualified(type)}`),
    ),
  );
}

function qualified(type: string): string {
  return type.includes("::") ? type : `Berth::${type}`;
}

/** Everything that Cedar is told, so also the key of the cache. */
interface Request {
  readonly principal: cedar.TypeAndId;
  readonly action: cedar.TypeAndId;
  readonly resource: cedar.TypeAndId;
  readonly entities: cedar.EntityJson[];
}

const role = (id: string): cedar.TypeAndId => ({ type: "Berth::Role", id });
const tenant = (id: string): cedar.TypeAndId => ({ type: "Berth::Tenant", id });

/** Each tenant role holds what the weaker ones hold; fleet-admin has a rule of its own. */
const ROLE_ENTITIES: readonly cedar.EntityJson[] = [
  { uid: role("tenant-viewer"), attrs: {}, parents: [] },
  { uid: role("tenant-operator"), attrs: {}, parents: [role("tenant-viewer")] },
  { uid: role("tenant-admin"), attrs: {}, parents: [role("tenant-operator")] },
  { uid: role("fleet-admin"), attrs: {}, parents: [] },
];

function toRequest(principal: Principal, action: string, resource: Resource): Request {
  const uid = { type: "Berth::Principal", id: principal.id };
  const thing = entityOf(resource);
  const chain = "scope" in resource ? [resource.scope.tenantId, ...resource.scope.ancestors] : [];
  const tenants = chain.map((id, at) => {
    const parent = chain[at + 1];
    return { uid: tenant(id), attrs: {}, parents: parent === undefined ? [] : [tenant(parent)] };
  });
  return {
    principal: uid,
    action: { type: "Berth::Action", id: action },
    resource: thing.uid,
    entities: [
      {
        uid,
        attrs: { tenant: { __entity: tenant(principal.tenantId) }, name: principal.name },
        parents: [role(principal.role)],
      },
      ...tenants,
      ...(resource.kind === "compute-tenant" ? [] : [thing]),
    ],
  };
}

type Entity = cedar.EntityJson & { readonly uid: cedar.TypeAndId };

function entityOf(resource: Resource): Entity {
  const type = ENTITY_TYPE[resource.kind];
  switch (resource.kind) {
    case "compute-fleet":
      return { uid: { type, id: "fleet" }, attrs: {}, parents: [] };
    case "compute-tenant":
      return { uid: tenant(resource.scope.tenantId), attrs: {}, parents: [] };
    case "compute-pool": {
      const { pool, scope } = resource;
      const attrs = {
        owned: pool.owned,
        archived: pool.archived,
        class: pool.class,
        sharing: pool.sharing,
        region: pool.region,
        ...(pool.gpuModel === null ? {} : { gpuModel: pool.gpuModel }),
      };
      return { uid: { type, id: pool.poolId }, attrs, parents: [tenant(scope.tenantId)] };
    }
    case "compute-node": {
      const { node, scope, standing } = resource;
      const attrs = {
        owned: standing?.owned ?? node.tenantId === scope.tenantId,
        managed: standing?.managed ?? false,
        site: node.siteId,
        ...(node.poolId === null ? {} : { pool: node.poolId }),
      };
      return { uid: { type, id: node.id }, attrs, parents: [tenant(scope.tenantId)] };
    }
  }
}

function evaluate(hash: string, request: Request, { log, observer }: PolicyOptions): boolean {
  const facts = { action: request.action.id, resource: request.resource.type };
  try {
    const answer = cedar.statefulIsAuthorized({
      ...request,
      entities: [...request.entities, ...ROLE_ENTITIES],
      context: {},
      preparsedSchemaName: hash,
      preparsedPolicySetId: hash,
      validateRequest: true,
    });
    if (answer.type === "failure") {
      log.error(
        { ...facts, fault: sentence(answer.errors) },
        "a decision could not be made: denied",
      );
      observer?.policyFailed?.();
      return false;
    }
    const faults = answer.response.diagnostics.errors;
    if (faults.length > 0) observer?.policyFailed?.();
    for (const { policyId, error } of faults)
      log.error({ ...facts, policyId, fault: sentence([error]) }, "a policy failed: denied");
    return faults.length === 0 && answer.response.decision === "allow";
  } catch (thrown) {
    const fault = thrown instanceof Error ? thrown.message : "unknown";
    log.error({ ...facts, fault }, "a decision could not be made: denied");
    observer?.policyFailed?.();
    return false;
  }
}
