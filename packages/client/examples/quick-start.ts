/** The README's example as a program: compiled against the packed package, and run against a server. */
import { createBerth, gpus, isBerthError } from "@berth/client";

/** Where to book: a server, a token, a tenant and one of its pools. */
export interface Place {
  readonly url: string;
  readonly token: string;
  readonly tenantId: string;
  readonly poolId: string;
}

/** Holds GPUs kept on one rack for as long as the work takes; answers where they were, or when there will be room. */
export async function onOneRack(place: Place, count: number): Promise<string> {
  const { url, token, tenantId, poolId } = place;
  const berth = createBerth({ url, token });
  const ask = { tenantId, poolId, ...gpus(count, { together: "rack" }), duration: "4h" };

  const plan = await berth.capacity.preview(ask);
  if (!plan.fits) return `${plan.reason?.message}; from ${plan.earliestStart} on it would fit`;
  try {
    await using hold = await berth.hold(ask);
    return (hold.reservation.members ?? []).map((member) => member.nodeName).join(", ");
  } catch (error) {
    if (!isBerthError(error, "NO_CAPACITY")) throw error;
    return `${error.reason.message}; from ${error.earliestStart} on it would fit`;
  }
}

/** Ids of everything that runs, a page at a time. */
export async function everythingThatRuns(place: Place): Promise<string[]> {
  const { url, token, tenantId } = place;
  const berth = createBerth({ url, token });
  const ids: string[] = [];
  for await (const { id } of berth.reservations.list({ tenantId, state: ["active"] })) ids.push(id);
  return ids;
}
