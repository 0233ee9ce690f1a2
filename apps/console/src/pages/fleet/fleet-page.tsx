/** Machines as their operator and their owner see them: states, maintenance, and what is set aside for whom. */
import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, ErrorBox, Loading, Partial } from "../../ui/states.tsx";
import { AsidePanel } from "./aside-panel.tsx";
import { NewSite } from "./new-site.tsx";
import { NodesPanel } from "./nodes-panel.tsx";
import { RegisterDialog } from "./register/register-dialog.tsx";
import { useFollow } from "./use-follow.ts";
import { useSites } from "./use-fleet.ts";

export function FleetPage(): ReactNode {
  const { tenantId } = useSession();
  const { error, isPartial, isPending, refetch, sites } = useSites();
  const may = useCan();
  const [open, setOpen] = useState<"site" | "register" | null>(null);
  const close = (): void => setOpen(null);
  const { site: chosen } = useSearch({ from: "/fleet" });
  const site = sites.find(({ id }) => id === chosen) ?? sites[0];
  return (
    <Page
      title="Fleet"
      lead="Sites, machines and their states, and GPUs that are set aside"
      actions={
        <>
          <Button reason={may("fleet.putSite")} onPress={() => setOpen("site")}>
            New site
          </Button>
          <Button
            kind="primary"
            reason={
              may("fleet.putNodes", { node: { poolId: null, owned: true } }) ??
              (site === undefined ? "Machines are at a site: make one." : null)
            }
            onPress={() => setOpen("register")}
          >
            Register machines
          </Button>
        </>
      }
    >
      {open === "site" && <NewSite onClose={close} />}
      {isPartial && (
        <Partial>
          There are too many tenants to list the sites of each: choose one in the menu.
        </Partial>
      )}
      {error !== null && sites.length === 0 && <ErrorBox error={error} onRetry={refetch} />}
      {isPending && sites.length === 0 && <Loading what="sites" lines={6} />}
      {!isPending && error === null && site === undefined && (
        <Empty title={`${tenantId} has no sites`}>
          A site is a place with machines. Machines of others are seen in the pools that are offered
          to you.
        </Empty>
      )}
      {site === undefined ? null : (
        <Machines
          key={site.id}
          sites={sites}
          site={site}
          isRegistering={open === "register"}
          onRegistered={close}
        />
      )}
    </Page>
  );
}

interface MachinesProps {
  readonly sites: ReturnType<typeof useSites>["sites"];
  readonly site: ReturnType<typeof useSites>["sites"][number];
  readonly isRegistering: boolean;
  onRegistered(): void;
}

function Machines({ sites, site, isRegistering, onRegistered }: MachinesProps): ReactNode {
  useFollow(site.tenantId);
  const nodes = useNodes({ tenantId: site.tenantId, siteId: site.id });
  const here = useMemo(
    () => new Map((nodes.data ?? []).map((node) => [node.id, node])),
    [nodes.data],
  );
  const owners = [...new Set(sites.map(({ tenantId }) => tenantId))];
  return (
    <>
      <AsidePanel here={here} owners={owners} />
      <NodesPanel sites={sites} site={site} query={nodes} />
      {isRegistering && (
        <RegisterDialog
          site={site}
          here={{ ...nodes, data: nodes.soFar?.isWhole === true ? nodes.data : undefined }}
          onClose={onRegistered}
        />
      )}
    </>
  );
}
