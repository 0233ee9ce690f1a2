/** The written rows that the checker reads, as the database names their columns. */
import type { DeviceLine, Gang, Pin, ScalarAmounts, Unit } from "@berth/domain";
import type { Json } from "./types.ts";

export interface MemberRow {
  readonly index: number;
  readonly nodeId: string;
  readonly unitIds: readonly string[];
  readonly resources: ScalarAmounts;
}

export interface ReservationRow {
  readonly id: string;
  readonly pool_id: string;
  readonly tenant_id: string;
  readonly charged_tenant_id: string;
  readonly state: string;
  readonly binding: "hold" | "node";
  readonly gang: Gang | null;
  readonly spot: boolean;
  readonly start: number;
  readonly end: number;
  readonly pins: readonly Pin[];
  readonly lease_expires_at: number | null;
  readonly members: readonly MemberRow[];
  readonly devices: readonly DeviceLine[];
  readonly ended_at: number | null;
  readonly version: number;
}

export interface NodeRow {
  readonly id: string;
  readonly gate_id: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly vcpu: number;
  readonly memory_gib: number;
  readonly hugepages_1gi: number;
  readonly removed_at: number | null;
}

export interface UnitRow {
  readonly key: number;
  readonly id: string;
  readonly node_id: string;
  readonly class: Unit["class"];
  readonly index: number;
  readonly model: string | null;
  readonly profile: string | null;
  readonly memory_gib: number | null;
  readonly nvlink_domain: string | null;
  readonly parent_unit_id: string | null;
  readonly healthy: boolean;
  readonly removed: boolean;
  readonly carrier: boolean;
  readonly gone_at: number | null;
}

export interface MaintenanceRow {
  readonly id: string;
  readonly node_id: string;
  readonly start: number;
  readonly end: number;
  readonly state: string;
}

export interface FenceRow {
  readonly id: string;
  readonly node_id: string;
  readonly status: string;
  readonly allowed_org_ids: readonly string[];
  readonly unit_ids: readonly string[];
  readonly released_unit_ids: readonly string[];
  readonly starts_at: number;
  readonly ends_at: number | null;
  readonly ended_at: number | null;
}

export interface PoolRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly sharing: string;
  readonly policy: Json;
  readonly archived_at: number | null;
}

export interface OfferRow {
  readonly tenant_id: string;
  readonly include_descendants: boolean;
}

export interface QuotaRow {
  readonly tenant_id: string;
  readonly resource: string;
  readonly max: number;
  readonly used: number;
  readonly used_at: number;
}

export interface BookingRow {
  readonly reservation_id: string;
  readonly unit_key: number;
  /** `[a,b)`. */
  readonly during: string;
}

export interface KeyRow {
  readonly tenant_id: string;
  readonly principal: string;
  readonly key: string;
  readonly reservation_id: string;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export const meets = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;

export function spanOf(during: string): Span {
  const found = /^\[(-?\d+),(-?\d+)\)$/.exec(during);
  return found ? { start: Number(found[1]), end: Number(found[2]) } : { start: 0, end: 0 };
}

export const LIVE: ReadonlySet<string> = new Set(["scheduled", "active", "preempting"]);
export const isLive = ({ state }: { readonly state: string }): boolean => LIVE.has(state);
