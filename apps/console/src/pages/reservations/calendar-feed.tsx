/** The tenant's bookings where people keep their other appointments: an address that calendar programs subscribe to. */
import { useState } from "react";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";

export function CalendarFeed(): ReactNode {
  const { tenantId } = useSession();
  const [isOpen, setOpen] = useState(false);
  const address = `${location.origin}/calendar.ics?${new URLSearchParams({ tenantId })}`;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Calendar feed</Button>
      <Dialog
        title="Bookings in your calendar"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        foot={<Button onPress={() => setOpen(false)}>Done</Button>}
      >
        <p>
          Subscribe to this address in your calendar program. Each booking of {tenantId} is one
          entry, and follows the booking when it changes.
        </p>
        <p>
          <CopyText text={address} label="the address" />
        </p>
        <p>
          The program asks for a name and a password: the name does not matter, the password is a
          key of yours. A viewer&rsquo;s is enough, and is best made for this alone.
        </p>
      </Dialog>
    </>
  );
}
