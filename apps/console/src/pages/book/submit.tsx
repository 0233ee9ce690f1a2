/** The button that books, with what it books in its words; and what becomes of a booking that somebody else beat. */
import { isBerthError } from "@berth/client";
import type { Pool } from "@berth/client";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useCan } from "../../access/use-can.ts";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { agoText } from "../../format/duration.ts";
import { faultText } from "../../format/fault.ts";
import { countText } from "../../format/gpus.ts";
import { crossesClockChange, timeText } from "../../format/time.ts";
import { PlanMoved } from "../../plan/moved.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import styles from "./book.module.css";
import { countedText, isCount } from "./form.ts";
import type { BookForm } from "./form.ts";
import { victimsIn } from "./outcome.ts";
import { NotSent, keyOfSame, mayStand, useBooking } from "./use-booking.ts";
import type { Quoting } from "./use-quote.ts";

export interface SubmitProps {
  readonly form: BookForm;
  readonly pool: Pool;
  readonly quoting: Quoting;
}

export function Submit({ form, pool, quoting }: SubmitProps): ReactNode {
  const { zone } = useZone();
  const navigate = useNavigate();
  const may = useCan();
  const now = useNow(1_000);
  const book = useBooking(quoting, {
    onSuccess: ({ id, start }) => {
      toast.success(`Booked: ${countedText(form)}, ${timeText(start, zone)}`);
      void navigate({
        to: "/reservations",
        search: ({ tenant }) => ({ ...(tenant === undefined ? {} : { tenant }), rsv: id }),
      });
    },
  });
  const { ask } = quoting;
  const reason = may("reservations.create", { pool }) ?? whyNot(quoting);
  const victims = quoting.isCurrent ? victimsIn(quoting.answer) : null;
  const start = victims === null ? form.start : Math.max(form.start ?? now, victims.startsAt);
  const when = start === null ? "now" : timeText(start, zone, { now });
  // What is wrong is said at its field: a button has no number and no time that nobody asked for.
  const what = isCount(form) ? `Book ${countedText(form)}` : "Book";
  const label = form.startFault === null && isCount(form) ? `${what}, ${when}` : what;
  const isLost = isBerthError(book.error, "NO_CAPACITY");
  const hasMoved = book.error instanceof PlanMoved;
  return (
    <div className={styles.submit} aria-busy={book.isPending}>
      {isLost ? (
        <p className={styles.taken} role="alert">
          Somebody was faster: taken {agoText(book.submittedAt, now)}. The answer is new; nothing of
          the form is lost.
        </p>
      ) : null}
      {hasMoved ? (
        <p className={styles.taken} role="alert">
          What it would end has changed meanwhile, and nothing was booked. This is as it is now.
        </p>
      ) : null}
      <Failure error={isLost || hasMoved ? null : book.error} />
      <Button
        kind={victims === null ? "primary" : "danger"}
        size="large"
        reason={reason}
        busy={book.isPending}
        onPress={() => {
          if (ask.ok) book.mutate({ ...ask.request, ...keyOfSame(book, ask.request) });
        }}
      >
        {book.isPending ? "Asking…" : label}
        {!book.isPending &&
          victims !== null &&
          `, and end ${countText(victims.count, "spot booking")}`}
      </Button>
      <p role="status">{book.isPending ? `Asking the server: ${label}.` : waitingText(quoting)}</p>
      {ask.ok ? <ClockChange form={form} ms={Number(ask.request.duration)} /> : null}
    </div>
  );
}

/** What is known after a press that booked nothing, or of which nobody knows. */
function Failure({ error }: { readonly error: Error | null }): ReactNode {
  if (error === null) return null;
  if (error instanceof NotSent)
    return (
      <p className={styles.taken} role="alert">
        {error.message} Nothing was booked; the button can be pressed again.
      </p>
    );
  return (
    <>
      <ErrorBox error={error} />
      {mayStand(error) ? (
        <p className={styles.taken} role="alert">
          Whether it is booked is not known. The button can be pressed again: it is booked once.
        </p>
      ) : null}
    </>
  );
}

const TRYING = "It is being tried whether it fits.";

function isWaiting({ answer, ask, error, isCurrent }: Quoting): boolean {
  return ask.ok && error === null && (answer === null || !isCurrent);
}

/** Why the button is dead although nothing is wrong: who presses it sees that, and not only who asks. */
function waitingText(quoting: Quoting): string {
  return isWaiting(quoting) ? TRYING : "";
}

/** Why the button is dead: it books what was just seen to fit, and nothing else. */
function whyNot({ answer, ask, error, isCurrent }: Quoting): string | null {
  if (!ask.ok) return Object.values(ask.errors)[0] ?? "The form is not complete.";
  if (error instanceof Error && !isCurrent) return `It could not be tried: ${faultText(error)}`;
  if (answer === null || !isCurrent) return TRYING;
  const { preview, quota } = answer;
  if (!quota.ok) return "It would be over the quota.";
  if (preview.fits || preview.preemptible) return null;
  return preview.reason?.message ?? "It does not fit.";
}

function ClockChange({ form, ms }: { readonly form: BookForm; readonly ms: number }): ReactNode {
  const { zone } = useZone();
  const now = useNow(60_000);
  const start = form.start ?? now;
  if (!crossesClockChange(start, start + ms, zone)) return null;
  return <p>The clocks change within this time: it ends at another time of day than it starts.</p>;
}
