/** The tenant's bookings as a calendar file. It is made here: an address that a calendar could subscribe to would hold a key. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useSession } from "../../app/session.tsx";
import { countText } from "../../format/gpus.ts";
import { Button } from "../../ui/button.tsx";
import { usePoolNames } from "../pool-names.ts";
import { LIVE_STATES, RESERVATIONS_MAX } from "../use-reservations.ts";
import { calendarOf } from "./ical.ts";

export function CalendarFile(): ReactNode {
  const { berth, tenantId } = useSession();
  const { nameOf } = usePoolNames();
  const making = useMutation({
    mutationFn: async () => {
      const input = { tenantId, state: LIVE_STATES, include: ["members" as const], limit: 200 };
      const bookings = await berth.reservations.list(input).toArray({ limit: RESERVATIONS_MAX });
      const text = calendarOf(bookings, {
        now: Date.now(),
        poolName: nameOf,
        linkTo: (id) => `${location.origin}/reservations?rsv=${id}&tenant=${tenantId}`,
      });
      download(text, `berth-${tenantId}.ics`);
      return bookings.length;
    },
    onSuccess: (count) => toast.success(`${countText(count, "booking")} in the calendar file`),
    onError: (error) => toast.error(error.message),
  });
  return (
    <Button busy={making.isPending} onPress={() => making.mutate()}>
      Calendar file
    </Button>
  );
}

function download(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/calendar" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
