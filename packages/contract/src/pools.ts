/** Group `pools`: make pools, offer them to other tenants with a quota, change and retire them. */
import { z } from "zod";
import {
  LIMITS,
  PATTERNS,
  agent,
  amount,
  anyTenantId,
  id,
  integer,
  list,
  name,
  poolClass,
  poolId,
  quotaMap,
  resourceKey,
  sharingMode,
  siteId,
  tenantId,
  text,
  time,
  token,
  version,
} from "./common.ts";
import { byPoolInput, byPoolOutput } from "./capacity.ts";
import { policy, policyView } from "./policy.ts";

const gpuModel = token(PATTERNS.gpuModel, 32, "must be 1 to 32 characters of A-Z, a-z, 0-9 and -");
const toTenantId = anyTenantId.describe("The tenant that the pool is offered to.");
const priority = integer(-LIMITS.priority, LIMITS.priority);
const quotaMax = integer(0, LIMITS.quotaMax);

const quotaView = z
  .object({
    resource: resourceKey.describe("What is limited."),
    max: quotaMax.nullable().describe("Most that may be in use at any one instant."),
    used: amount().nullable().describe("The peak in use from now on."),
    remaining: amount()
      .nullable()
      .describe("What is left; given only to a tenant that draws on a row of a tenant above it."),
  })
  .meta({
    id: "QuotaView",
    description: "One quota row. `max` and `used` are null where the row is another tenant's.",
  });

const quotaRows = list(quotaView, LIMITS.answer);

const offerTerms = z
  .object({
    includeDescendants: z
      .boolean()
      .describe("Tenants below the offered one see and use the pool too."),
    priority: priority.describe("Who is served first: higher before lower."),
  })
  .meta({ id: "OfferTerms", description: "The terms of an offer." });

const offerView = z
  .object({
    tenantId: anyTenantId.describe("The offered tenant."),
    includeDescendants: z.boolean().describe("Tenants below it see and use the pool too."),
    priority: priority.describe("Who is served first: higher before lower."),
    quota: quotaRows.describe("The offered tenant's rows."),
  })
  .meta({ id: "OfferView", description: "An offer, as the pool's owner sees it." });

export const pool = z
  .object({
    id: poolId.describe("The pool's id."),
    tenantId: anyTenantId.describe("The owner."),
    siteId,
    region: name().describe("The site's region."),
    class: poolClass.describe("What kind of machines it has."),
    gpuModel: gpuModel.nullable().describe("A label: the GPU model, or null."),
    sharing: sharingMode.describe("How its GPUs are cut."),
    agent: agent.describe("The agent on its nodes."),
    policy: policyView.describe("The parts of its policy that are set and that you may see."),
    label: text(LIMITS.nameLength, 0).nullable().describe("`policy.label`, or null."),
    providerAccountId: id("pacct").nullable().describe("The provider account of a provider pool."),
    version: version.describe(
      "Goes up by one with every change of the policy or the GPU model and when the pool is archived; offers and quota leave it.",
    ),
    owned: z.boolean().describe("The tenant that asks owns it."),
    archived: z.boolean().describe("Retired; only its owner sees it."),
    quota: quotaRows.describe("The asking tenant's own rows, by resource name."),
    offer: offerTerms.nullable().describe("The terms on which you see it; null for the owner."),
    offers: list(offerView, LIMITS.answer)
      .nullable()
      .describe("All offers, for the owner; null for everyone else."),
    createdAt: time.describe("Milliseconds since the epoch."),
    updatedAt: time.describe("Milliseconds since the epoch."),
  })
  .meta({ id: "Pool", description: "A pool, as one tenant sees it." });

const createInput = z
  .strictObject({
    tenantId,
    siteId: siteId.describe("A site that the tenant owns."),
    class: poolClass.describe("What kind of machines it will have."),
    gpuModel: gpuModel.optional().describe("A label: the GPU model."),
    sharing: sharingMode
      .default("exclusive")
      .describe("How its GPUs are cut; cannot change later."),
    agent: agent
      .optional()
      .describe("The agent on its nodes; absent: `bcd`, and `none` for class `provider`."),
    policy: policy.optional().describe("What holds for its nodes and bookings."),
    ownerQuota: quotaMap
      .optional()
      .describe(
        "The owner's own quota; absent: gpu 2,147,483,647. A unit class that it does not name cannot be booked by the owner.",
      ),
    providerAccountId: id("pacct")
      .optional()
      .describe("The account of a provider pool; other classes refuse it."),
    idempotencyKey: token(
      PATTERNS.poolKey,
      128,
      "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ ~ : / + = -",
    )
      .meta({ "x-client-fills": true })
      .optional()
      .describe(
        "Names this pool for the caller: a repeated call answers the pool that the first one made. The typed client makes one when it is absent.",
      ),
  })
  .meta({ id: "CreatePoolInput", description: "A new pool." });

const offerInput = z
  .strictObject({
    tenantId,
    poolId,
    toTenantId,
    quota: quotaMap.describe("Rows to create or resize; rows not named stay as they are."),
    includeDescendants: z
      .boolean()
      .default(false)
      .describe("Offer it to every tenant below as well; they draw on the same rows."),
    priority: priority
      .optional()
      .describe("Who is served first when room is scarce: higher before lower; absent: 0."),
  })
  .meta({ id: "OfferPoolInput", description: "An offer of a pool to a tenant." });

const updateInput = z
  .strictObject({
    tenantId,
    poolId,
    policy: policy.optional().describe("The new policy, which replaces the old one as a whole."),
    gpuModel: gpuModel.optional().describe("The new label."),
  })
  .refine((input) => input.policy !== undefined || input.gpuModel !== undefined, {
    path: ["policy"],
    error: "give policy, gpuModel or both",
  })
  .meta({
    id: "UpdatePoolInput",
    description: "What to change of a pool: `policy`, `gpuModel` or both.",
  });

export const pools = {
  list: {
    input: z
      .strictObject({ tenantId })
      .meta({ id: "ListPoolsInput", description: "Whose view of the pools." }),
    output: z
      .object({ pools: list(pool, LIMITS.answer).describe("Owned and offered pools.") })
      .meta({ id: "PoolList", description: "The pools that a tenant sees." }),
  },
  get: { input: byPoolInput, output: pool },
  create: { input: createInput, output: pool },
  capacity: { input: byPoolInput, output: byPoolOutput },
  offer: { input: offerInput, output: pool },
  unoffer: {
    input: z
      .strictObject({
        tenantId,
        poolId,
        toTenantId: toTenantId.describe("The tenant to withdraw it from."),
      })
      .meta({ id: "UnofferPoolInput", description: "An offer to withdraw." }),
    output: z
      .object({ removed: z.boolean().describe("Whether there was an offer to remove.") })
      .meta({ id: "Unoffered", description: "What withdrawing an offer did." }),
  },
  update: { input: updateInput, output: pool },
  archive: { input: byPoolInput, output: pool },
};
