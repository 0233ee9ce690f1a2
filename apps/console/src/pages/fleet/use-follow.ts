/**
 * Another tenant's events: an operator looks at machines that are none of their own. The one page that has a second
 * stream (ADR 0211), because only the owner is told of nodes.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { pulse } from "../../app/live.ts";
import { hearing } from "../../app/live-store.ts";
import { createRenewal } from "../../app/renewal.ts";
import { useSession } from "../../app/session.tsx";
import { staleKeysOf } from "../../app/stale-keys.ts";

/** Keeps the page as live for the owner's machines as the tab's own stream keeps it for the tenant in view. */
export function useFollow(ownerId: string): void {
  const { berth, listen, tenantId } = useSession();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (ownerId === tenantId) return;
    const controller = new AbortController();
    const { signal } = controller;
    const renew = createRenewal(queryClient);
    const stream = listen();
    const follow = async (): Promise<void> => {
      for await (const event of stream.berth.reservations.watch({ tenantId: ownerId }, { signal }))
        renew(staleKeysOf(event.type));
    };
    // A stream that is refused leaves the pulse, and that the badge of the tab's own says what is wrong with it.
    follow().catch(() => stream.close());
    pulse({ berth, tenantId: ownerId, renew, signal, hearing });
    return () => {
      controller.abort();
      stream.close();
    };
  }, [berth, listen, ownerId, tenantId, queryClient]);
}
