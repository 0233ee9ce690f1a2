/**
 * Where each table would be on Citus, and what its keys would have to become. Distributed: cut by a column, tables cut
 * by gate or pool side by side. Reference: a copy on every worker. Local: on the coordinator alone.
 */

export type Place =
  | {
      readonly kind: "distributed";
      readonly by: string;
      /** The table has no such column yet. */
      readonly isNew?: true;
      /** Tables of one group have equal values on one worker. */
      readonly group: "gate" | "tenant";
    }
  | { readonly kind: "reference"; readonly because: string }
  | { readonly kind: "local"; readonly because: string };

const byPool: Place = { kind: "distributed", by: "pool_id", group: "gate" };
const byGate: Place = { kind: "distributed", by: "gate_id", group: "gate" };
const byTenant: Place = { kind: "distributed", by: "tenant_id", group: "tenant" };
const byId: Place = { kind: "distributed", by: "id", group: "gate" };

/** A table that is not here fails the check. */
export const LAYOUT: Readonly<Record<string, Place>> = {
  api_keys: {
    kind: "reference",
    because: "looked up by the key's id at every call, whose tenant is not known before",
  },
  audit: byTenant,
  berth_migrations: { kind: "local", because: "read and written by the migrator alone" },
  bookings: byPool,
  clock: {
    kind: "reference",
    because:
      "one row that every gate's function reads; its beat each second is a write to every worker",
  },
  events: { kind: "distributed", by: "stream", group: "gate" },
  gate_batches: byGate,
  gates: byId,
  maintenance: byGate,
  meta: { kind: "local", because: "what the database is, read when a server starts" },
  nodes: byGate,
  offers: byPool,
  outages: { kind: "reference", because: "read by every gate's function; a row an outage" },
  pool_authz: byPool,
  pool_due: byGate,
  pools: byId,
  provider_accounts: { kind: "reference", because: "small, and pools of every worker refer to it" },
  quotas: byPool,
  reservation_keys: byTenant,
  reservations: byPool,
  rollups: byPool,
  servers: { kind: "local", because: "a row a server, read with the beat" },
  sites: { kind: "reference", because: "small, and nodes and pools of every worker refer to it" },
  streams: byId,
  tenants: {
    kind: "reference",
    because: "read at every call, and rows of every worker refer to it",
  },
  unit_reservations: byGate,
  unit_terms: { kind: "distributed", by: "gate_id", isNew: true, group: "gate" },
  units: byGate,
  waiters: byPool,
};

/** Why a key that lacks its table's column loses nothing, or what it loses, when the column is put in front. */
export const WIDENED: Readonly<Record<string, string>> = {
  audit_pkey: "the id is the database's own count; with the tenant it is as unique",
  bookings_no_overlap:
    "a unit is in one gate at a time, and moves only while nothing of it is booked",
  bookings_pk: "a reservation is in one pool for good",
  events_pkey: "the id is a sequence's; the stream in front changes nothing that is asked",
  gate_batches_batch: "batch ids are random and looked up with their gate",
  maintenance_pkey: "ids are random; a window moves with its node",
  nodes_name:
    "the site's nodes are on many workers: one name twice would go unseen, so names need a reference table of their own",
  nodes_pkey:
    "the id is made from site and name, so two gates could each make the node: the table of names has to say where it is",
  reservations_pkey:
    "ids are random; which pool an id is in takes a table from id to pool, cut by id",
  unit_reservations_pkey: "ids are random; a standing one moves with its node",
  unit_terms_no_overlap: "as for bookings: a unit is in one gate at a time",
  unit_terms_pk: "with the gate of its unit reservation in front",
  units_id: "made from the node's id and the device: as unique as the node",
  units_pkey: "the key is a sequence's; the gate in front changes nothing that is asked",
  waiters_pkey: "ids are random; asked for with the pool",
};

/** Foreign keys between distributed tables, which there need both columns. */
export const JOINED: Readonly<Record<string, string>> = {
  maintenance_node_id_nodes_id_fk: "(gate_id, node_id) to (gate_id, id): both rows move together",
  unit_reservations_node_id_nodes_id_fk:
    "none: one that has ended stays with the gate where it ended, and its node may be elsewhere",
  units_node_id_nodes_id_fk: "(gate_id, node_id) to (gate_id, id): both rows move together",
};
