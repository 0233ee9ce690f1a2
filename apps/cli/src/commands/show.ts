/** `berth show`. */
import { type OutputOptions, print } from "../output/print.ts";
import { reservationAnswer } from "../reservation-view.ts";
import { type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";

export async function show(
  { io, args, onServer }: Call,
  options: OutputOptions & TenantOption,
): Promise<void> {
  const { berth, url, tenantId } = await openSession(io, options);
  onServer(url);
  const [reservationId = ""] = args;
  const found = await berth.reservations.get({ tenantId: await tenantId(), reservationId });
  await print(io, options, reservationAnswer(found, io.now()));
}
