/** The button that books, with what it books in its words; and what becomes of a booking that somebody else beat. */
import { isBerthError } from "@berth/client";
import type { Pool } from "@berth/client";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useCan } from "../../access/use-can.ts";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { useZone } from "../../app/zone.tsx";
import { agoText } from "../../format/duration.ts";
import { crossesClockChange, timeText } from "../../format/time.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import styles from "./book.module.css";
import { countedText } from "./form.ts";
import type { BookForm } from "./form.ts";
import type { Quoting } from "./use-quote.ts";

export interface SubmitProps {
  readonly form: BookForm;
  readonly pool: Pool;
  readonly quoting: Quoting;
}

export function Submit({ form, pool, quoting }: SubmitProps): ReactNode {
  const { queries } = useSession();
  const { zone } = useZone();
  const navigate = useNavigate();
  const may = useCan();
  const now = useNow(1_000);
  const book = useMutation({
    ...queries.reservations.create.mutationOptions(),
    // Somebody was faster: the form stays, and the new answer takes the place of the old one.
    onError: () => quoting.again(),
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
  const when = form.start === null ? "now" : timeText(form.start, zone, { now });
  const isLost = isBerthError(book.error, "NO_CAPACITY");
  return (
    <div className={styles.submit}>
      {isLost ? (
        <p className={styles.taken} role="alert">
          Somebody was faster: taken {agoText(book.submittedAt, now)}. The answer is new; nothing of
          the form is lost.
        </p>
      ) : null}
      {book.error && !isLost ? <ErrorBox error={book.error} /> : null}
      <Button
        kind="primary"
        size="large"
        reason={reason}
        busy={book.isPending}
        onPress={() => {
          if (ask.ok) book.mutate(ask.request);
        }}
      >
        Book {countedText(form)}, {when}
      </Button>
      {ask.ok ? <ClockChange form={form} ms={Number(ask.request.duration)} /> : null}
    </div>
  );
}

/** Why the button is dead: it books what was just seen to fit, and nothing else. */
function whyNot({ answer, ask, isCurrent }: Quoting): string | null {
  if (!ask.ok) return Object.values(ask.errors)[0] ?? "The form is not complete.";
  if (answer === null || !isCurrent) return "It is being tried whether it fits.";
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
