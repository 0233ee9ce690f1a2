/** A node as it is reported: what fleet.putNodes takes. */
import { z } from "zod";
import { LIMITS, PATTERNS, integer, list, map, name, nodeState, text, token } from "./common.ts";

export const labels = map(
  text(LIMITS.topologyKeyLength),
  text(LIMITS.nameLength, 0),
  LIMITS.nodeLabels,
);

const migPlacements = z
  .strictObject({
    profile: token(PATTERNS.migProfile, 32, "must be a MIG profile such as 3g.40gb").describe(
      "The profile, as the driver names it.",
    ),
    size: integer(1, LIMITS.memorySlices).describe("Memory slices that an instance takes."),
    starts: list(integer(0, LIMITS.memorySlices - 1), LIMITS.memorySlices, 1).describe(
      "Memory slices that an instance may begin at.",
    ),
  })
  .meta({ id: "MigPlacements", description: "Where instances of one MIG profile fit on a GPU." });

const gpuInput = z
  .strictObject({
    uuid: text(128).describe("As the driver reports it; unique on the node."),
    index: integer(0, 1_023).describe("Its number on the node."),
    model: text().describe("As the hardware reports it."),
    memoryMiB: integer(0, LIMITS.memoryGiB * 1_024)
      .optional()
      .describe("Memory, MiB."),
    nvlinkDomain: text(128)
      .optional()
      .describe("GPUs with the same one reach each other by NVLink."),
    pciAddress: text(64).optional().describe("Its PCI address."),
    vfioGroup: text(64).optional().describe("Its VFIO group."),
    healthy: z
      .boolean()
      .optional()
      .describe("Whether it is sound; absent: as it was, yes for a new one."),
    migProfiles: list(migPlacements, LIMITS.migProfiles)
      .optional()
      .describe("MIG instances that it can take; absent: those known of its model."),
  })
  .meta({ id: "GpuInput", description: "A GPU as its node reports it." });

export const nodeInput = z
  .strictObject({
    name: name().describe("Its name, unique on the site: what its id is made from."),
    address: text().optional().describe("Where to reach it: host or host:port."),
    labels: labels.optional().describe("Its labels, all of them; absent: none."),
    vcpu: integer(0, LIMITS.vcpu).optional().describe("Virtual CPUs; absent: 0."),
    memoryGiB: integer(0, LIMITS.memoryGiB).optional().describe("Memory, GiB; absent: 0."),
    hugepages1Gi: integer(0, LIMITS.hugepages1Gi)
      .optional()
      .describe("Huge pages of 1 GiB; absent: 0."),
    gpus: list(gpuInput, LIMITS.gpusPerNode).optional().describe("Its GPUs, all of them."),
    nics: list(
      z
        .strictObject({
          name: text(64).describe("The card's name on the node."),
          vfs: integer(0, LIMITS.vfsPerNic).describe("How many virtual functions it has."),
        })
        .meta({ id: "NicInput", description: "A network card." }),
      LIMITS.nicsPerNode,
    )
      .optional()
      .describe("Its network cards, all of them."),
    disks: list(
      z
        .strictObject({
          name: text(64).describe("The disk's name on the node."),
          sizeGiB: integer(0, LIMITS.diskGiB).describe("Its size, GiB."),
        })
        .meta({ id: "DiskInput", description: "A disk." }),
      LIMITS.disksPerNode,
    )
      .optional()
      .describe("Its disks, all of them."),
    tenantOwned: z
      .boolean()
      .optional()
      .describe("The machine is its tenant's own: its pool is offered to nobody; absent: no."),
    state: nodeState.optional().describe("Absent: as it was, `ready` for a new node."),
  })
  .meta({ id: "NodeInput", description: "A node as it is reported: the whole of it." });

type NodeInput = z.output<typeof nodeInput>;

/** What it has, counted as the limits count it. */
export function devicesOf(node: NodeInput): number {
  const vfs = (node.nics ?? []).reduce((sum, nic) => sum + nic.vfs, 0);
  return (node.gpus?.length ?? 0) + (node.disks?.length ?? 0) + vfs;
}
