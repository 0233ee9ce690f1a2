/**
 * What a method's file is given: the house's parts, who calls, and what the chain in authorize.ts has
 * already settled about the thing the call names. A handler never asks who may call it.
 */
import {
  type Contract,
  type GroupName,
  type Input,
  type MethodName,
  type Output,
  ROLES,
  type Role,
} from "@berth/contract";
import type { Database } from "@berth/db";
import type {
  GateId,
  InputIssue,
  KeyId,
  NodeId,
  PoolClass,
  PoolId,
  ReservationId,
  SharingMode,
  SiteId,
  TenantId,
} from "@berth/domain";
import type { Engine } from "@berth/engine";
import type { Access } from "./access/access.ts";
import type { Audit } from "./audit.ts";
import type { Feed } from "./feed/feed.ts";
import type { Step } from "./feed/watcher.ts";
import type { HANDED } from "./handed.ts";

/** `group.method`, for every method of the contract. */
export type Method = MethodName;

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Told of what operators watch; every method is optional. */
export interface ApiObserver {
  /** Rows of the audit trail could not be written. */
  auditLost?(rows: number): void;
  /** A decision was denied because a policy could not be evaluated. */
  policyFailed?(): void;
}

export interface ApiOptions {
  /** 32 bytes that seal policy secrets; null = they are refused. */
  readonly sealKey: Uint8Array | null;
  /** The platform operator's own org, in every audience; null = unit reservations are refused. */
  readonly platformOrg: TenantId | null;
}

export interface Deps {
  readonly db: Database;
  readonly engine: Engine;
  readonly access: Access;
  readonly log: Log;
  /** Of cryptographic quality: ids and key secrets come from it. */
  readonly random: (bytes: number) => Uint8Array;
  readonly audit: Audit;
  readonly feed: Feed;
  readonly observer?: ApiObserver | undefined;
  readonly options: ApiOptions;
}

/** Weakest first; each holds all that the one before it holds. */
export { ROLES, type Role };

/** What a key is narrowed to; an absent list narrows nothing. */
export interface KeyScope {
  readonly poolIds?: readonly PoolId[] | undefined;
  readonly actions?: readonly string[] | undefined;
}

/** Who calls: with a key of ours, or with a token of the configured issuer. */
export type Principal = KeyPrincipal | TokenPrincipal;

interface AnyPrincipal {
  /** Unambiguous among all principals: what idempotency, budgets and audit file under. */
  readonly id: string;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly role: Role;
  readonly scope: KeyScope | null;
  /** When the credential ends; null = it does not. */
  readonly expiresAt: number | null;
}

/** Two keys of one tenant and name are one principal. */
export interface KeyPrincipal extends AnyPrincipal {
  readonly credential: "key";
  readonly keyId: KeyId;
}

/** All tokens of one issuer and subject are one principal; its name is the subject. */
export interface TokenPrincipal extends AnyPrincipal {
  readonly credential: "token";
  readonly expiresAt: number;
}

/** What the transport shows beside the body: `x-berth-seq`, `Idempotent-Replayed`. */
export interface Answer {
  seq?: number;
  replayed?: boolean;
  /** Shown nowhere: the call is on file, with what it did. */
  filed?: boolean;
}

export interface Call {
  readonly deps: Deps;
  readonly method: Method;
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
  /** The version that the caller named beside an input that has no field for it. */
  readonly ifMatch: number | undefined;
  readonly answer: Answer;
  /** Whether the caller still may, for what goes on longer than a call. @throws ApiError */
  recheck(): Promise<void>;
  /** Cuts the caller's connection: it does not read what it asked for. */
  hangUp(): void;
  /** It waits and costs nothing, until what this answers is called. */
  resting(): () => void;
}

/** A tenant on which the caller has a role. */
export interface TenantScope {
  readonly tenantId: TenantId;
  /** Its parents, nearest first; without itself. */
  readonly ancestors: readonly TenantId[];
}

/** What policies may test of a pool: its authz row for the tenant that looks. */
export interface PoolAttributes {
  readonly gpuModel: string | null;
  readonly class: PoolClass;
  readonly sharing: SharingMode;
  readonly region: string;
}

/** A pool that the tenant may know of. */
export interface VisiblePool extends PoolAttributes {
  readonly poolId: PoolId;
  readonly ownerId: TenantId;
  /** Owned by the tenant that looks. */
  readonly owned: boolean;
  readonly archived: boolean;
  /** Raised by a change of what the pool itself is: policy, GPU model, archived. Offers leave it alone. */
  readonly version: number;
  /** Whose offer and quota rows apply: the tenant itself or its nearest offered ancestor. */
  readonly offeredTenantId: TenantId;
  /** Seen through an ancestor's offer: only what remains of its quota is shown. */
  readonly descendant: boolean;
}

export interface PoolScope extends TenantScope {
  readonly pool: VisiblePool;
  /** Set when the call named a reservation; `tenantId` is whose it is. */
  readonly reservation?: { readonly id: ReservationId; readonly tenantId: TenantId };
}

export interface VisibleNode {
  readonly id: NodeId;
  readonly siteId: SiteId;
  /** The site's owner. */
  readonly tenantId: TenantId;
  readonly gateId: GateId;
  readonly poolId: PoolId | null;
}

export interface NodeScope extends TenantScope {
  readonly node: VisibleNode;
}

/** What a caller has to do with the unit reservations of a node. */
export interface UnitStanding {
  /** The fleet's operator. */
  readonly asFleet: boolean;
  /** The node is its tenant's, or of one below. */
  readonly owned: boolean;
  /** Such a tenant manages the unit reservation, or one of the node's. */
  readonly managed: boolean;
}

/** A unit reservation, a node to make one on or to list those of, or none to list all: the caller may see it. */
export interface UnitScope extends TenantScope {
  readonly node: VisibleNode | null;
  readonly standing: UnitStanding;
}

/** Nothing was named, or nothing that belongs to a tenant. */
export type NoScope = Readonly<Record<never, never>>;

interface ScopeOf {
  readonly "compute-tenant": TenantScope;
  readonly "compute-pool": PoolScope;
  readonly "compute-node": NodeScope;
  readonly units: UnitScope;
  readonly none: NoScope;
}

export type Scope<M extends Method> = ScopeOf[(typeof HANDED)[M]];

/** What a method answers: its output, or a stream of it. */
export type Answered<M extends Method> = M extends "reservations.watch"
  ? AsyncIterableIterator<Step, undefined>
  : Output<M>;

/** One method: what it does once everything about the caller is settled. */
export interface Handler<M extends Method> {
  /**
   * What is wrong with the input beyond its schema, by the input alone: no clock, no caller, no pool. Asked
   * right after parsing, so that a hidden thing and a missing one are refused alike.
   */
  check?(input: Input<M>): readonly InputIssue[];
  /** Answers a used idempotency key, before visibility and without a second decision; undefined = not used. */
  replay?(call: Call, input: Input<M>, scope: TenantScope): Promise<Output<M> | undefined>;
  run(call: Call, input: Input<M>, scope: Scope<M>): Promise<Answered<M>>;
}

export type GroupHandlers<G extends GroupName> = {
  readonly [K in keyof Contract[G] & string]: Handler<`${G}.${K}` & Method>;
};
/** Every method of the contract has one; a missing one does not type-check. */
export type Handlers = { readonly [G in GroupName]: GroupHandlers<G> };
