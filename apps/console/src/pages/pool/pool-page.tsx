/** One pool: what it holds, when it is free, where, on which terms. */
import { isBerthError } from "@berth/client";
import type { Pool } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { isNoId } from "../../format/fault.ts";
import { modelText } from "../../format/gpus.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";
import { poolName } from "../pool-names.ts";
import { ArchiveDialog } from "./archive-dialog.tsx";
import { CapacityPanel } from "./capacity-panel.tsx";
import { LadderPanel } from "./ladder-panel.tsx";
import { MapPanel } from "./map-panel.tsx";
import { OffersPanel } from "./offers-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import styles from "./pool.module.css";
import { TimelinePanel } from "./timeline-panel.tsx";

export function PoolPage(): ReactNode {
  const { poolId } = useParams({ from: "/pools/$poolId" });
  const { queries, tenantId } = useSession();
  const { data, error, refetch } = useQuery(queries.pools.get.queryOptions({ tenantId, poolId }));
  const isMissing = isBerthError(error, "NOT_FOUND") || isNoId(error, "poolId");
  if (data !== undefined) return <Whole key={poolId} pool={data} />;
  return (
    <Page title="Pool">
      {isMissing && (
        <Empty title="There is no such pool here">
          This tenant neither owns it nor is offered it. Choose another tenant in the menu, or ask
          the owner for an offer.
        </Empty>
      )}
      {error !== null && !isMissing && <ErrorBox error={error} onRetry={() => void refetch()} />}
      {error === null && <Loading what="the pool" lines={6} />}
    </Page>
  );
}

function Whole({ pool }: { readonly pool: Pool }): ReactNode {
  return (
    <Page title={poolName(pool)} lead={<Lead pool={pool} />} actions={<Actions pool={pool} />}>
      <div className={styles["grid"]}>
        <CapacityPanel pool={pool} />
        <TimelinePanel pool={pool} />
        <LadderPanel pool={pool} />
        <MapPanel pool={pool} />
        {pool.owned && <OffersPanel pool={pool} />}
        <PolicyPanel pool={pool} />
      </div>
    </Page>
  );
}

const SHARING: Readonly<Record<string, string>> = {
  exclusive: "whole GPUs",
  mig: "MIG instances",
  timeslice: "time slices",
  mps: "MPS slots",
};

function Lead({ pool }: { readonly pool: Pool }): ReactNode {
  return (
    <span className={styles["lead"]}>
      <Chip tone={pool.owned ? "accent" : "plain"}>{pool.owned ? "owned" : "offered to you"}</Chip>
      {pool.archived && (
        <Chip tone="warn" glyph="▲">
          archived
        </Chip>
      )}
      <span>{modelText(pool.gpuModel)}</span>
      <span>{SHARING[pool.sharing] ?? pool.sharing}</span>
      <span>{pool.region}</span>
      <CopyText text={pool.id} shown={shortId(pool.id)} label="the pool's id" />
    </span>
  );
}

function Actions({ pool }: { readonly pool: Pool }): ReactNode {
  const may = useCan();
  const [isArchiving, setArchiving] = useState(false);
  const refusal = may("reservations.create", { pool });
  return (
    <>
      <Button reason={may("pools.archive", { pool })} onPress={() => setArchiving(true)}>
        Archive
      </Button>
      {refusal === null ? (
        <Link
          to="/book"
          search={({ tenant }) => ({ ...(tenant === undefined ? {} : { tenant }), pool: pool.id })}
          className={buttonClass({ kind: "primary" })}
        >
          Book
        </Link>
      ) : (
        <Button kind="primary" reason={refusal}>
          Book
        </Button>
      )}
      {isArchiving && <ArchiveDialog poolId={pool.id} onClose={() => setArchiving(false)} />}
    </>
  );
}
