/** The press that books: what it asks, how long it waits, and what is known when it fails. */
import { isBerthError } from "@berth/client";
import type { BookingRequest, Reservation } from "@berth/client";
import { useMutation } from "@tanstack/react-query";
import { useSession } from "../../app/session.tsx";
import { unlessMoved } from "../../plan/moved.ts";
import { endsIn } from "./outcome.ts";
import type { Quoting } from "./use-quote.ts";

/** Whoever has pressed waits no longer than this for a word. */
const LOOK_MS = 8_000;
const BOOK_MS = 20_000;

/** It could not be asked whether what was shown still holds: nothing was sent. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super("The server did not say in time whether this is still so.", { cause });
    this.name = "NotSent";
  }
}

/**
 * Books, once it is sure that nothing else ends than what was shown: creating takes no such condition, so it is asked
 * once more right before. Whoever presses again because no answer came is not asked: that booking may stand by now, and
 * has ended what it ends.
 */
export function useBooking(
  { answer, again, look }: Quoting,
  { onSuccess }: { readonly onSuccess: (made: Reservation) => void },
) {
  const { berth } = useSession();
  return useMutation({
    mutationFn: async (request: BookingRequest) => {
      if (request.idempotencyKey === undefined)
        await unlessMoved(endsIn(answer), async () => endsIn(await sure(look)));
      return berth.reservations.create(request, { timeoutMs: BOOK_MS });
    },
    // Not waited for: what became of the press is said at once. The form stays, and gets a new answer.
    onError: () => void again().catch(() => null),
    onSuccess,
  });
}

/** @throws NotSent when there is no answer */
async function sure(look: Quoting["look"]): ReturnType<Quoting["look"]> {
  try {
    return await look(LOOK_MS);
  } catch (error) {
    throw new NotSent(error);
  }
}

/** Whether the server may have booked although the press failed. */
export function mayStand(error: unknown): boolean {
  return isBerthError(error, "TIMEOUT") || isBerthError(error, "NETWORK");
}

interface Tried {
  readonly error: Error | null;
  readonly variables: BookingRequest | undefined;
}

/** Whoever presses again because no answer came means the same booking, and gets what the first press booked. */
export function keyOfSame(
  { error, variables }: Tried,
  request: BookingRequest,
): { idempotencyKey?: string } {
  const key = isBerthError(error) ? error.idempotencyKey : null;
  const wish = (of: object | undefined): string => JSON.stringify({ ...of, idempotencyKey: null });
  return key !== null && wish(variables) === wish(request) ? { idempotencyKey: key } : {};
}
