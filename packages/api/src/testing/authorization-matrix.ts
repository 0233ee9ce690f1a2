/**
 * Who may call what, as a table: every method, every persona, the expected code. A method without a row is
 * a failing test. Inputs are made so that an allowed call changes nothing that another row counts on; where
 * there is no such input, an allowed call meets a refusal of the method's own, later in the order.
 */
import type { ErrorCode } from "@berth/contract";
import type { Method } from "../call.ts";
import { PERSONAS, type Persona, type World, bookingInput, nodeReport } from "./world.ts";

export type Code = "OK" | ErrorCode;
export type Codes = Readonly<Record<Persona, Code>>;

export interface MatrixRow {
  /** @param turn how often this persona asked this before: once a surface */
  input(world: World, persona: Persona, turn?: number): object;
  readonly codes: Codes;
  /** What the fleet's operator is told when none of the ids is anybody's. */
  readonly absent?: Code;
  /** Names nothing, or nothing that is hidden: other ids make no difference to who is refused. */
  readonly open?: true;
}

const KEYLESS: ReadonlySet<Persona> = new Set([
  "noToken",
  "malformed",
  "unknown",
  "revoked",
  "expired",
]);
const OUTSIDERS: ReadonlySet<Persona> = new Set(["stranger", "sibling", "child"]);

/** From `first` up everybody gets `allowed`; weaker roles are forbidden, outsiders see nothing. */
function from(first: Persona, allowed: Code = "OK", outsider: Code = "NOT_FOUND"): Codes {
  const entry = (persona: Persona): [Persona, Code] => {
    if (KEYLESS.has(persona)) return [persona, "UNAUTHENTICATED"];
    const weaker = PERSONAS.indexOf(persona) < PERSONAS.indexOf(first);
    if (OUTSIDERS.has(persona) && weaker) return [persona, outsider];
    return [persona, weaker ? "FORBIDDEN" : allowed];
  };
  return Object.fromEntries(PERSONAS.map(entry)) as Record<Persona, Code>;
}

/** Whose ids a call names: the world's of its caller, another world's, or nobody's. */
export const IDS = ["own", "other", "absent"] as const;
export type Ids = (typeof IDS)[number];

/** What is hidden is answered as what is not there; to the fleet's operator nothing is hidden. */
export function expectedCode({ codes, absent, open }: MatrixRow, persona: Persona, ids: Ids): Code {
  if (ids === "own" || KEYLESS.has(persona)) return codes[persona];
  if (persona === "fleetAdmin" && ids === "other") return codes.fleetAdmin;
  if (persona === "fleetAdmin" && absent) return absent;
  return open ? codes[persona] : "NOT_FOUND";
}

const everyone = from("stranger");
const readers = from("parentViewer");
const operators = from("operator");
const admins = from("admin");
/** The fleet is no secret: who may not run it is told so. */
const fleetOnly = from("fleetAdmin", "OK", "FORBIDDEN");

const tenant = ({ tenantId }: World): object => ({ tenantId });
const pool = ({ tenantId, poolId }: World): object => ({ tenantId, poolId });
const booking = ({ tenantId, poolId }: World, persona: Persona): object =>
  bookingInput({ tenantId, poolId, idempotencyKey: `matrix-${persona}` });
const unitReservation = ({ setAside }: World): object => ({
  nodeId: setAside.nodeId,
  reservationId: setAside.unitReservationId,
});
/** What neither owner nor managing org may do; to strangers there is nothing there. */
const operatorOnly = from("fleetAdmin");
/** No node is at this version: an allowed call ends as a conflict and changes nothing. */
const NEVER = 999_999;

export const AUTHORIZATION_MATRIX: Readonly<Record<Method, MatrixRow>> = {
  "capacity.summary": { input: tenant, codes: readers },
  "capacity.byPool": { input: pool, codes: readers },
  "capacity.preview": { input: booking, codes: readers },
  "capacity.timeline": { input: pool, codes: readers },
  "pools.list": { input: tenant, codes: readers },
  "pools.get": { input: pool, codes: readers },
  "pools.create": {
    input: ({ tenantId, siteId }, persona) => ({
      tenantId,
      siteId,
      class: "metal-host",
      idempotencyKey: `matrix-${persona}`,
    }),
    codes: admins,
  },
  "pools.capacity": { input: pool, codes: readers },
  "pools.offer": {
    input: (world) => ({ ...pool(world), toTenantId: world.tenantId, quota: { gpu: 64 } }),
    codes: admins,
  },
  "pools.unoffer": {
    input: (world) => ({ ...pool(world), toTenantId: world.strangerTenantId }),
    codes: admins,
  },
  "pools.update": { input: (world) => ({ ...pool(world), gpuModel: "H100" }), codes: admins },
  "pools.archive": {
    input: ({ tenantId, sparePoolId }) => ({ tenantId, poolId: sparePoolId }),
    codes: admins,
  },
  "reservations.create": { input: booking, codes: operators },
  "reservations.quote": { input: booking, codes: readers },
  "reservations.get": {
    input: ({ tenantId, reservationId }) => ({ tenantId, reservationId }),
    codes: readers,
  },
  "reservations.list": { input: tenant, codes: readers },
  "reservations.renew": {
    input: ({ tenantId, reservationId }) => ({ tenantId, reservationId }),
    codes: operators,
  },
  "reservations.extend": {
    input: ({ tenantId, reservationId, reservationEnd: end }) => ({ tenantId, reservationId, end }),
    codes: operators,
  },
  "reservations.release": {
    input: ({ tenantId, releasedId }) => ({ tenantId, reservationId: releasedId }),
    codes: operators,
  },
  "reservations.terminate": {
    input: ({ tenantId, terminatedId }) => ({
      tenantId,
      reservationId: terminatedId,
      reason: "the matrix ends it",
    }),
    codes: admins,
  },
  "reservations.watch": { input: tenant, codes: readers },
  "unitReservations.create": {
    input: ({ tenantId, setAside }, _persona, turn = 0) => ({
      nodeId: setAside.nodeId,
      unitIds: [setAside.freeUnitIds[turn]],
      allowedOrgIds: [tenantId],
    }),
    codes: operatorOnly,
  },
  "unitReservations.list": { input: ({ setAside: { nodeId } }) => ({ nodeId }), codes: readers },
  "unitReservations.get": { input: unitReservation, codes: readers },
  "unitReservations.cancel": {
    input: ({ setAside: { nodeId, cancelledId } }) => ({ nodeId, reservationId: cancelledId }),
    codes: operatorOnly,
  },
  "unitReservations.release": { input: unitReservation, codes: admins },
  "unitReservations.reclaim": { input: unitReservation, codes: admins },
  "unitReservations.reaffirm": { input: unitReservation, codes: operatorOnly },
  "fleet.putTenant": {
    input: ({ tenantId, parentId }) => ({ tenantId, parentId }),
    codes: fleetOnly,
    absent: "INVALID_INPUT",
    open: true,
  },
  "fleet.putProviderAccount": {
    input: (world) => ({ ...tenant(world), name: "cloud", kind: "any" }),
    codes: fleetOnly,
    absent: "NOT_FOUND",
    open: true,
  },
  "fleet.putSite": {
    input: (world) => ({ ...tenant(world), name: "hall-1", region: "eu-1" }),
    codes: admins,
  },
  "fleet.listTenants": { input: () => ({}), codes: everyone, open: true },
  "fleet.listSites": { input: tenant, codes: readers },
  "fleet.putNodes": {
    input: ({ siteId }) => ({ siteId, nodes: [nodeReport("n-matrix", 0)] }),
    codes: admins,
  },
  "fleet.listNodes": { input: tenant, codes: readers },
  "fleet.getNode": { input: ({ tenantId, nodeId }) => ({ tenantId, nodeId }), codes: readers },
  "fleet.setNodeState": { input: ({ nodeId }) => ({ nodeId, state: "ready" }), codes: admins },
  "fleet.setUnitHealth": { input: ({ unitId }) => ({ unitId, healthy: true }), codes: admins },
  "fleet.assignNode": { input: ({ nodeId, poolId }) => ({ nodeId, poolId }), codes: admins },
  "fleet.removeNode": {
    input: ({ nodeId }) => ({ nodeId, version: NEVER }),
    codes: from("admin", "CONFLICT"),
  },
  "fleet.scheduleMaintenance": {
    input: ({ nodeId, reservationEnd }) => ({
      nodeId,
      from: reservationEnd,
      to: reservationEnd + 1,
      dryRun: true,
    }),
    codes: admins,
  },
  "fleet.cancelMaintenance": {
    input: ({ maintenanceId }) => ({ maintenanceId, version: NEVER }),
    codes: from("admin", "CONFLICT"),
  },
  "access.createKey": {
    input: (world) => ({ ...tenant(world), role: "tenant-viewer", name: "matrix" }),
    codes: admins,
  },
  "access.listKeys": { input: tenant, codes: admins },
  "access.revokeKey": { input: ({ keyId }) => ({ keyId }), codes: admins },
  "access.whoami": { input: () => ({}), codes: everyone, open: true },
  "access.audit": { input: tenant, codes: admins },
  "events.list": { input: tenant, codes: readers },
};
