/** The README's example as a program: compiled against the packed package. */
import { createBerth, isBerthError } from "@berth/client";

/** Where to book: a server, a token, a tenant and one of its pools. */
export interface Place {
  readonly url: string;
  readonly token: string;
  readonly tenantId: string;
  readonly poolId: string;
}

/** Books eight GPUs for four hours and lets them go; answers where they were, or when there will be room. */
export async function bookEight({ url, token, tenantId, poolId }: Place): Promise<string> {
  const berth = createBerth({ url, token });
  const ask = { tenantId, poolId, devices: [{ class: "gpu" as const, count: 8 }], duration: "4h" };

  const plan = await berth.capacity.preview(ask);
  if (!plan.fits) return `${plan.reason?.message}; from ${plan.earliestStart} on it would fit`;
  try {
    const booking = await berth.reservations.create(ask);
    await berth.reservations.release({ tenantId, reservationId: booking.id });
    return (booking.members ?? []).map((member) => member.nodeName).join(", ");
  } catch (error) {
    if (!isBerthError(error, "NO_CAPACITY")) throw error;
    return `somebody was quicker; from ${error.details.earliestStart} on it would fit`;
  }
}
