/** What there is, what of it is free, how much of it is mine to use, and what fits. */
import type { CapacitySummary, Pool } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { FitLadder, ladderDuration } from "../../fit/fit-ladder.tsx";
import { gpusPerNode } from "../../fit/ladder.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { poolName } from "../pool-names.ts";
import { useSites } from "../fleet/use-fleet.ts";
import { useSetSearch } from "../use-set-search.ts";
import { LIVE_STATES, useReservations } from "../use-reservations.ts";
import { ComingUp } from "./coming-up.tsx";
import { mainRow, mineNow, splitOf, sumsByResource } from "./counts.ts";
import { Figures } from "./figures.tsx";
import { ModelPanel } from "./model-panel.tsx";
import styles from "./overview.module.css";
import { PoolPanel } from "./pool-panel.tsx";
import type { PoolLine } from "./pool-panel.tsx";
import type { OverviewSearch } from "./search.ts";

export function OverviewPage(): ReactNode {
  const { queries, tenantId } = useSession();
  const summary = useQuery(queries.capacity.summary.queryOptions({ tenantId }));
  const pools = useQuery(queries.pools.list.queryOptions({ tenantId }));
  return (
    <Page
      title="Overview"
      lead={
        <>
          All that <bdi>{tenantId}</bdi> owns or is offered
        </>
      }
      actions={
        <Link to="/book" className={buttonClass({ kind: "primary" })}>
          Book GPUs
        </Link>
      }
    >
      <Loaded query={summary} what="capacity" lines={6}>
        {(counted) => (
          <Loaded query={pools} what="pools" lines={6}>
            {(list) =>
              list.pools.length === 0 ? (
                <NoPools />
              ) : (
                <Overview summary={counted} pools={list.pools} />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function NoPools(): ReactNode {
  const { tenantId, tenants, who } = useSession();
  const others = tenants.filter((tenant) => tenant.tenantId !== tenantId);
  // Whoever runs the fleet owns no pools themselves: what they are looking for is elsewhere.
  if (who.role === "fleet-admin" && tenantId === who.tenantId) return <ToTheFleet />;
  if (others.length === 0)
    return (
      <Empty title="No pools yet" action={<Link to="/pools">To the pools</Link>}>
        Whoever runs the machines offers a pool to {tenantId}, or you make one.
      </Empty>
    );
  return (
    <Empty
      title="This tenant has no pools"
      action={<Tenants ids={others.map((tenant) => tenant.tenantId)} />}
    >
      {tenantId} owns no pool and is offered none. You have a role on these as well:
    </Empty>
  );
}

/** More are in the menu. */
const TENANTS_OFFERED = 8;

function Tenants({ ids }: { readonly ids: readonly string[] }): ReactNode {
  const { setTenant } = useSession();
  return ids.slice(0, TENANTS_OFFERED).map((id) => (
    <Button key={id} onPress={() => setTenant(id)}>
      <bdi>{id}</bdi>
    </Button>
  ));
}

/** An operator of the fleet belongs to no tenant with machines: those are named, and where all of them are. */
function ToTheFleet(): ReactNode {
  const { sites } = useSites();
  const owners = [...new Set(sites.map(({ tenantId }) => tenantId))];
  return (
    <Empty
      title="You run the fleet"
      action={
        <>
          <Link to="/fleet" className={buttonClass({ kind: "primary" })}>
            To the machines
          </Link>
          <Tenants ids={owners} />
        </>
      }
    >
      {owners.length === 0
        ? "No tenant has machines yet: make a site for one under Fleet, and register them there."
        : "Machines and pools belong to tenants. See all machines, or the overview of one that owns some:"}
    </Empty>
  );
}

interface OverviewProps {
  readonly summary: CapacitySummary;
  readonly pools: readonly Pool[];
}

function Overview({ summary, pools }: OverviewProps): ReactNode {
  const lines = useLines(summary, pools);
  const whole = lines.filter(({ row }) => row.resource === "gpu");
  return (
    <>
      <Figures sums={sumsByResource(lines)} />
      <Ladder lines={whole} />
      <div className={styles.columns}>
        <PoolPanel lines={lines} />
        <div className={styles.stack}>
          <ModelPanel byModel={summary.byGpuModel} />
          <ComingUp />
        </div>
      </div>
    </>
  );
}

/** Pools with something to count, the one with most free first. */
function useLines({ pools: counted }: CapacitySummary, pools: readonly Pool[]): PoolLine[] {
  const now = useNow(5_000);
  const own = useReservations({ state: LIVE_STATES });
  return pools
    .flatMap((pool): PoolLine[] => {
      const rows = counted.find(({ poolId }) => poolId === pool.id);
      const row = rows === undefined ? null : mainRow(rows);
      if (rows === undefined || row === null || pool.archived) return [];
      const where = { poolId: pool.id, resource: row.resource, now };
      const split = splitOf(row, mineNow(own.data ?? [], where));
      return [{ pool, row, split, perNode: gpusPerNode(rows.capacity) }];
    })
    .toSorted((a, b) => b.split.total - a.split.total);
}

function Ladder({ lines }: { readonly lines: readonly PoolLine[] }): ReactNode {
  const search = useSearch({ from: "/" });
  const set = useSetSearch<OverviewSearch>();
  const [roomiest] = lines.toSorted((a, b) => b.split.free - a.split.free);
  const chosen = lines.find(({ pool }) => pool.id === search.pool) ?? roomiest;
  if (chosen === undefined) return null;
  return (
    <FitLadder
      poolId={chosen.pool.id}
      perNode={chosen.perNode}
      duration={ladderDuration(search.for)}
      onDuration={(next) => set({ for: next === "1h" ? undefined : next })}
      actions={
        <div className={styles.picker}>
          <Select
            label="Pool"
            bare
            value={chosen.pool.id}
            choices={lines.map(({ pool }) => ({ value: pool.id, name: poolName(pool) }))}
            onChange={(pool) => set({ pool })}
          />
        </div>
      }
    />
  );
}
