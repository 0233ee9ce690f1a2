/** Group `fleet`: tenants, sites, machines, their health and their maintenance. */
import { z } from "zod";
import {
  LIMITS,
  amount,
  anyTenantId,
  cursor,
  id,
  ifVersion,
  limit,
  list,
  name,
  nextCursor,
  nodeId,
  nodeState,
  poolId,
  reservationId,
  siteId,
  tenantId,
  text,
  time,
  unitClass,
  unitId,
  version,
} from "./common.ts";
import { devicesOf, labels, nodeInput } from "./node-report.ts";

const maintenanceId = id("mnt").describe("The maintenance window.");
const siteKind = z
  .enum(["custom", "platform"])
  .meta({ id: "SiteKind", description: "Whose machines: the tenant's own or the platform's." });

const tenant = z
  .object({
    tenantId: anyTenantId.describe("The tenant."),
    parentId: anyTenantId.nullable().describe("The tenant above it, or null."),
    name: name().nullable().describe("Its name for people, or null."),
  })
  .meta({ id: "Tenant", description: "A tenant of the tree." });

const site = z
  .object({
    id: siteId.describe("The site's id."),
    tenantId: anyTenantId.describe("The owner."),
    name: name().describe("Its name, unique for the owner."),
    kind: siteKind.describe("Whose machines."),
    region: name().describe("Where it is."),
    desiredGen: amount().describe("Goes up when what the site's agents should hold ready changes."),
  })
  .meta({ id: "Site", description: "A place with nodes." });

const unitFields = {
  id: unitId.describe("The unit's id."),
  class: unitClass.describe("What kind of unit."),
  index: amount().describe("Its number among the node's units of the class."),
  model: text().nullable().describe("The hardware's model name, or null."),
  profile: text(64).nullable().describe("The MIG profile, or null."),
  placement: amount().nullable().describe("Where on the GPU the MIG instance sits, or null."),
  gpuUuid: text().nullable().describe("The GPU's UUID, or null."),
  memoryGiB: amount().nullable().describe("A GPU's memory or a disk's size, GiB; else null."),
  nvlinkDomain: text().nullable().describe("The NVLink domain, or null."),
  vfioGroup: text().nullable().describe("The VFIO group, or null."),
  parentUnitId: unitId.nullable().describe("The GPU that it is a part of, or null."),
  healthy: z.boolean().describe("The unit itself is sound."),
};
const unit = z.object(unitFields).meta({ id: "Unit", description: "The smallest thing to book." });
const unitSchedule = z
  .object({
    ...unitFields,
    spans: list(
      z
        .object({
          start: time.describe("Start."),
          end: time.describe("End, exclusive."),
          kind: z
            .enum(["mine", "busy", "maintenance", "withheld"])
            .describe(
              "Who or what takes it: the tenant itself, somebody else, maintenance, a ring-fence.",
            ),
          reservationId: reservationId
            .nullable()
            .describe("The tenant's own reservation; null for every other span."),
        })
        .meta({ id: "Span", description: "A stretch in which a unit is taken." }),
      LIMITS.answer,
    ).describe("When it is taken within the time asked about, in order."),
  })
  .meta({ id: "UnitSchedule", description: "A unit and when it is taken." });

const nodeFields = {
  id: nodeId.describe("The node's id."),
  siteId,
  poolId: poolId.nullable().describe("The pool that it is in, or null."),
  name: name().describe("Its name, unique on the site."),
  address: text().nullable().describe("Where to reach it; null when unknown and to non-owners."),
  state: nodeState.describe("Whether it can take bookings."),
  labels: labels.describe("Its labels."),
  topologyGen: amount().describe(
    "Goes up when its GPUs' set, order, NVLink domains or VFIO groups change.",
  ),
  version: version.describe("Goes up by one with every change."),
  tenantOwned: z.boolean().describe("The machine is its tenant's own."),
  maintenance: list(
    z
      .object({
        id: maintenanceId,
        from: time.describe("Start, milliseconds since the epoch."),
        to: time.describe("End, exclusive."),
      })
      .meta({ id: "MaintenanceWindow", description: "A window out of service." }),
    LIMITS.answer,
  ).describe("Windows that are not over, by start."),
};
const node = z
  .object({ ...nodeFields, units: list(unit, LIMITS.answer).describe("Its units.") })
  .meta({ id: "Node", description: "One machine." });
const nodeSchedule = z
  .object({ ...nodeFields, units: list(unitSchedule, LIMITS.answer).describe("Its units.") })
  .meta({ id: "NodeSchedule", description: "One machine and when its units are taken." });

const putNodesFields = {
  siteId,
  poolId: poolId
    .optional()
    .describe("Joins nodes that are in no pool to this one, a pool of the same site."),
};
const putNodesInput = z
  .strictObject({
    ...putNodesFields,
    nodes: list(nodeInput, LIMITS.nodesPerCall, 1).describe(
      "The nodes, with at most 20,000 devices in all; those not named stay untouched.",
    ),
  })
  .superRefine(mindNodes)
  .meta({ id: "PutNodesInput", description: "Nodes of a site, as they are." });

/**
 * The input of `fleet.putNodes` in parts, for who has something else to do between two nodes: the call around them,
 * each node, and then all of them together. What the parts accept, the whole accepts.
 */
export const putNodesParts = {
  around: z.strictObject({
    ...putNodesFields,
    nodes: list(z.unknown(), LIMITS.nodesPerCall, 1),
  }),
  node: nodeInput,
  together: z.custom<z.infer<typeof putNodesInput>>().superRefine(mindNodes),
};

function mindNodes(
  { nodes }: { readonly nodes: readonly z.infer<typeof nodeInput>[] },
  context: z.RefinementCtx,
): void {
  const names = new Set<string>();
  let devices = 0;
  for (const [index, node] of nodes.entries()) {
    devices += devicesOf(node);
    if (names.has(node.name)) {
      context.addIssue({
        code: "custom",
        path: ["nodes", index, "name"],
        message: "names a node twice",
      });
    }
    names.add(node.name);
  }
  if (devices > LIMITS.devicesPerCall) {
    context.addIssue({
      code: "custom",
      path: ["nodes"],
      message: `have ${devices} devices, at most ${LIMITS.devicesPerCall} go in one call: send fewer nodes`,
    });
  }
}

const planOf = (most: number) => ({
  healed: list(reservationId, most).describe(
    "Bookings that go to other nodes; of a window that is called off, those that are sound again.",
  ),
  staying: list(reservationId, most).describe(
    "Bookings that overlap it and stay: they have begun, or there is no room elsewhere.",
  ),
});
const maintenancePlan = z
  .object({
    id: maintenanceId.nullable().describe("The window's id; null on a dry run."),
    ...planOf(LIMITS.answer),
  })
  .meta({
    id: "MaintenancePlan",
    description: "A maintenance window and what it does to bookings.",
  });

export const fleet = {
  putTenant: {
    input: z
      .strictObject({
        tenantId: anyTenantId.describe("The tenant to make or change."),
        parentId: anyTenantId
          .nullable()
          .optional()
          .describe("The tenant above it; null: none. Absent: as it was, none for a new one."),
        name: name().optional().describe("Its name for people; absent: as it was."),
      })
      .meta({ id: "PutTenantInput", description: "A tenant, as it should be." }),
    output: tenant,
  },
  putProviderAccount: {
    input: z
      .strictObject({
        tenantId: anyTenantId.describe("The owner."),
        name: name().describe("Its name, unique for the owner."),
        kind: name().describe("Which provider."),
      })
      .meta({ id: "PutProviderAccountInput", description: "An account at a provider." }),
    output: z
      .object({
        id: id("pacct").describe("The account's id."),
        tenantId: anyTenantId.describe("The owner."),
        name: name().describe("Its name."),
        kind: name().describe("Which provider."),
      })
      .meta({ id: "ProviderAccount", description: "An account at a provider." }),
  },
  putSite: {
    input: z
      .strictObject({
        tenantId,
        name: name().describe("Its name: the same tenant and name are the same site."),
        kind: siteKind.optional().describe("Absent: as it was, `custom` for a new one."),
        region: name().describe("Where it is."),
      })
      .meta({ id: "PutSiteInput", description: "A site, as it should be." }),
    output: site,
  },
  listTenants: {
    input: z
      .strictObject({})
      .meta({ id: "ListTenantsInput", description: "Nothing to say." })
      .default({}),
    output: z
      .object({ tenants: list(tenant, LIMITS.answer).describe("Tenants you have a role on.") })
      .meta({ id: "TenantList", description: "The caller's tenants." }),
  },
  listSites: {
    input: z.strictObject({ tenantId }).meta({ id: "ListSitesInput", description: "Whose sites." }),
    output: z
      .object({ sites: list(site, LIMITS.answer).describe("The tenant's sites, by name.") })
      .meta({ id: "SiteList", description: "A tenant's sites." }),
  },
  putNodes: {
    input: putNodesInput,
    output: z
      .object({
        nodes: list(
          z
            .object({
              id: nodeId.describe("The node's id."),
              name: name().describe("Its name."),
              outcome: z
                .enum(["created", "changed", "unchanged"])
                .describe("What the call did to it."),
              topologyGen: amount().describe("Its topology generation."),
            })
            .meta({ id: "PutNode", description: "What became of one node." }),
          LIMITS.nodesPerCall,
        ).describe("In the order given."),
      })
      .meta({ id: "PutNodesOutput", description: "What became of the nodes." }),
  },
  listNodes: {
    input: z
      .strictObject({
        tenantId,
        poolId: poolId.optional().describe("Only nodes in this pool."),
        siteId: siteId.optional().describe("Only nodes of this site."),
        state: nodeState.optional().describe("Only nodes in this state."),
        from: time
          .optional()
          .describe("Spans from here on, milliseconds since the epoch; absent: now."),
        to: time.optional().describe("Spans up to here, exclusive; absent: no upper bound."),
        limit,
        cursor,
      })
      .meta({ id: "ListNodesInput", description: "Which nodes to list." }),
    output: z
      .object({ nodes: list(nodeSchedule, LIMITS.page).describe("The nodes, by id."), nextCursor })
      .meta({ id: "NodePage", description: "A page of nodes." }),
  },
  getNode: {
    input: z.strictObject({ tenantId, nodeId }).meta({ id: "NodeRef", description: "A node." }),
    output: node,
  },
  setNodeState: {
    input: z
      .strictObject({ nodeId, state: nodeState.describe("The new state."), version: ifVersion })
      .meta({ id: "SetNodeStateInput", description: "A node and its new state." }),
    output: node,
  },
  setUnitHealth: {
    input: z
      .strictObject({
        unitId,
        healthy: z.boolean().describe("Whether the unit is sound."),
        version: ifVersion,
      })
      .meta({ id: "SetUnitHealthInput", description: "A unit and whether it is sound." }),
    output: node,
  },
  assignNode: {
    input: z
      .strictObject({
        nodeId,
        poolId: poolId
          .nullable()
          .describe("The pool to move it to, a pool of the same site; null: to none."),
        version: ifVersion,
      })
      .meta({ id: "AssignNodeInput", description: "A node and the pool it should be in." }),
    output: node,
  },
  removeNode: {
    input: z
      .strictObject({ nodeId, version: ifVersion })
      .meta({ id: "RemoveNodeInput", description: "A node to remove." }),
    output: node,
  },
  scheduleMaintenance: {
    input: z
      .strictObject({
        nodeId,
        from: time.describe("Start, milliseconds since the epoch."),
        to: time.describe("End, exclusive; after `from`, not in the past."),
        dryRun: z.boolean().optional().describe("Answer the plan, write nothing."),
        expect: z
          .strictObject(planOf(LIMITS.expected))
          .meta({ id: "ExpectedPlan", description: "The plan that a dry run answered." })
          .optional()
          .describe("The plan you agreed to; when it has changed, the call is CONFLICT."),
        version: ifVersion,
      })
      .meta({
        id: "ScheduleMaintenanceInput",
        description: "A window to take a node out of service.",
      }),
    output: maintenancePlan,
  },
  cancelMaintenance: {
    input: z
      .strictObject({ maintenanceId, version: ifVersion })
      .meta({ id: "CancelMaintenanceInput", description: "A maintenance window to end." }),
    output: maintenancePlan,
  },
};
