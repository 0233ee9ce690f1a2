/** I8: at no instant do live bookings hold more of a node's scalars than the node has. */
import { instant, type Check, type Violation } from "./query.ts";
import { liveReservations, nodes } from "./rows.ts";
import { groupBy, peak } from "./sweep.ts";

const SCALARS = ["vcpu", "memoryGiB", "hugepages1Gi"] as const;

export const scalars: Check = {
  invariant: "I8",
  title: "no node's scalars are held beyond what it has",
  async run(query) {
    const held = (await liveReservations(query)).flatMap(({ members, pins, start, end }) => [
      ...members.map(({ nodeId, resources }) => ({ nodeId, resources, start, end })),
      // What early victims gave back is kept until the preemptor starts.
      ...pins.map(({ nodeId, resources, from }) => ({
        nodeId,
        resources,
        start: from,
        end: start,
      })),
    ]);
    const heldOn = groupBy(held, (member) => member.nodeId);
    const found: Violation[] = [];
    for (const node of await nodes(query)) {
      for (const scalar of SCALARS) {
        const spans = (heldOn.get(node.id) ?? []).map((member) => ({
          start: member.start,
          end: member.end,
          amount: member.resources[scalar] ?? 0,
        }));
        const negative = spans.some((span) => span.amount < 0);
        const most = peak(spans);
        if (most.amount <= node[scalar] && !negative) continue;
        found.push({
          invariant: "I8",
          ids: [node.id],
          message:
            `${node.name} (${node.id}) has ${node[scalar]} ${scalar}; its bookings hold ` +
            `${most.amount} at ${instant(most.at)}`,
        });
      }
    }
    return found;
  },
};
