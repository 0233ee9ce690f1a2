/** A reservation on the wire, its members with what a launcher needs: host, GPU uuids, in order. */
import type { Output } from "@berth/contract";
import {
  type Degraded,
  type Member,
  type Node,
  type NodeId,
  type PoolState,
  type Reservation,
  type Unit,
  type UnitId,
  invariant,
} from "@berth/domain";

export type ReservationView = Output<"reservations.get">;
type MemberView = NonNullable<ReservationView["members"]>[number];

export type NodeFacts = Pick<Node, "name" | "address">;
export type UnitFacts = Pick<
  Unit,
  "class" | "model" | "profile" | "gpuUuid" | "index" | "parentUnitId"
>;

/** Where a view finds the nodes and units of its members. */
export interface Lookup {
  node(id: NodeId): NodeFacts | undefined;
  unit(id: UnitId): UnitFacts | undefined;
}

export function stateLookup(state: PoolState): Lookup {
  return { node: (id) => state.node(id), unit: (id) => state.unit(id)?.unit };
}

/** With a null lookup the members are left out. For whose sake it is under notice is never shown. */
export function reservationView(r: Reservation, lookup: Lookup | null): ReservationView {
  return {
    id: r.id,
    tenantId: r.tenantId,
    poolId: r.poolId,
    projectId: r.projectId,
    state: r.state,
    binding: r.binding,
    spot: r.spot,
    start: r.start,
    end: r.end,
    leaseSeconds: r.leaseSeconds,
    leaseExpiresAt: r.leaseExpiresAt,
    topology: r.topology,
    gang: r.gang && { size: r.gang.size, topologyKey: r.gang.topologyKey ?? null },
    node: r.node && { ...r.node },
    devices: r.devices as ReservationView["devices"],
    resources: { ...r.resources },
    members: lookup && r.members.map((member) => memberView(member, lookup)),
    preemption: r.preemption && {
      noticeAt: r.preemption.noticeAt,
      endsAt: r.preemption.endsAt,
    },
    degraded: r.degraded && degradedView(r.degraded),
    endedAt: r.endedAt,
    endReason: r.endReason,
    version: r.version,
    createdBy: r.createdBy,
    createdAt: r.createdAt,
    updatedAt: r.updatedAt,
  };
}

/** For everyone but its tenant: where its machines are reached is the booker's alone. */
export function withoutAddresses(view: ReservationView): ReservationView {
  return {
    ...view,
    members: view.members && view.members.map((member) => ({ ...member, address: null })),
  };
}

function memberView(member: Member, lookup: Lookup): MemberView {
  const node = lookup.node(member.nodeId);
  invariant(node, "a booked node is known for good");
  return {
    index: member.index,
    nodeId: member.nodeId,
    nodeName: node.name,
    address: node.address,
    atoms: member.unitIds.map((unitId) => atomView(unitId, lookup)),
    resources: { ...member.resources },
  };
}

function atomView(unitId: UnitId, lookup: Lookup): MemberView["atoms"][number] {
  const unit = lookup.unit(unitId);
  invariant(unit, "a booked unit is known for good");
  const { model, profile, gpuUuid, index, parentUnitId } = unit;
  return { unitId, class: unit.class, model, profile, gpuUuid, index, parentUnitId };
}

function degradedView({ since, cause, unitIds }: Degraded): ReservationView["degraded"] {
  return { since, cause, unitIds: [...unitIds] };
}
