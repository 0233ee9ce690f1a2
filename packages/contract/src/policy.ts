/** A pool's policy: parts that each have a rule. What a part means is the domain's; its shape is here. */
import { z } from "zod";
import { LIMITS, PATTERNS, duration, integer, list, map, text, token } from "./common.ts";

const hugepages = z
  .strictObject({
    size1Gi: integer(0, 65_536).optional().describe("Huge pages of 1 GiB."),
    size2Mi: integer(0, 65_536).optional().describe("Huge pages of 2 MiB."),
  })
  .meta({ id: "Hugepages", description: "Huge pages to set aside on each node." });

const sharingPolicy = z
  .strictObject({
    replicas: integer(2, 48).describe("Slots of each GPU in a timeslice or mps pool."),
  })
  .meta({ id: "SharingPolicy", description: "How many slots a shared GPU is cut into." });

const spotPolicy = z
  .strictObject({
    noticeSeconds: integer(0, 3_600).describe("Notice before a spot booking ends, seconds."),
  })
  .meta({ id: "SpotPolicy", description: "Terms of the pool's spot bookings." });

const kubernetesEndpoint = text(512).describe("The API server's address.");
const kubernetesCaHash = text().describe("The hash of the cluster's CA certificate.");

/** The parts that are the same in what is given and in what is shown. */
const parts = {
  label: text(LIMITS.nameLength, 0).optional().describe("The pool's name for people."),
  singleTenant: z
    .boolean()
    .optional()
    .describe("At most one tenant beside the owner holds an offer."),
  platformOperated: z
    .boolean()
    .optional()
    .describe("The platform runs the cluster that the pool's nodes join."),
  migLayout: map(
    text(),
    list(token(PATTERNS.migProfile, 32, "must be a MIG profile such as 3g.40gb"), 7, 1),
    32,
  )
    .optional()
    .describe("How to cut each GPU of a mig pool: model to 1-7 profiles."),
  sharing: sharingPolicy.optional().describe("Slots of each GPU in a timeslice or mps pool."),
  placement: z
    .enum(["pack", "spread"])
    .optional()
    .describe("`pack` keeps nodes whole, `spread` prefers the emptiest; absent: `pack`."),
  spot: spotPolicy.optional().describe("Terms of spot bookings; absent: 120 s notice."),
  maxDuration: duration.optional().describe("The longest booking; absent: 366 days."),
  horizon: duration.optional().describe("How far ahead a booking may start; absent: 366 days."),
};

/** Shown to the owner only. */
const hostParts = {
  hugepages: hugepages.optional().describe("Huge pages to set aside on each node."),
  kernelModules: list(text(128), 64).optional().describe("Kernel modules to load on each node."),
  prewarmImages: list(text(512), 64).optional().describe("Images to keep on each node."),
};

export const policy = z
  .strictObject({
    ...parts,
    ...hostParts,
    kubernetes: z
      .strictObject({
        endpoint: kubernetesEndpoint,
        token: text(4_096).describe("The join token: stored sealed, never shown again."),
        caHash: kubernetesCaHash,
      })
      .meta({
        id: "KubernetesJoin",
        description: "The cluster that nodes join: all three or none.",
      })
      .optional()
      .describe("The cluster that nodes join; an update gives the whole set again."),
  })
  .meta({ id: "PoolPolicy", description: "What holds for every node and booking of a pool." });

export const policyView = z
  .object({
    ...parts,
    ...hostParts,
    kubernetes: z
      .object({
        endpoint: kubernetesEndpoint,
        caHash: kubernetesCaHash,
        tokenSet: z.literal(true).describe("A token is stored; it is never shown."),
      })
      .meta({
        id: "KubernetesView",
        description: "The cluster that nodes join, without its token.",
      })
      .optional()
      .describe("The cluster that nodes join."),
  })
  .meta({
    id: "PoolPolicyView",
    description:
      "The parts of the policy that are set. Tenants that do not own the pool never see `kubernetes`, `hugepages`, " +
      "`kernelModules` and `prewarmImages`.",
  });
