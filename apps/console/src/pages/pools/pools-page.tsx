/** The pools that the tenant owns or is offered, and what it has in all of them. */
import type { Pool, PoolCapacity } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { modelText } from "../../format/gpus.ts";
import { Button } from "../../ui/button.tsx";
import { Segmented, Select, TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Loaded, Partial } from "../../ui/states.tsx";
import { useSetSearch } from "../use-set-search.ts";
import { matching } from "./matching.ts";
import { MinePanel } from "./mine-panel.tsx";
import { NewPool } from "./new-pool.tsx";
import { PoolTable } from "./pool-table.tsx";
import styles from "./pools.module.css";
import type { PoolKind, PoolsSearch } from "./search.ts";

export function PoolsPage(): ReactNode {
  const { queries, tenantId } = useSession();
  const { fresh, mine } = useSearch({ from: "/pools" });
  const set = useSetSearch<PoolsSearch>();
  const query = useQuery(queries.pools.list.queryOptions({ tenantId }));
  const refusal = useCan()("pools.create");
  return (
    <Page
      title="Pools"
      lead="What this tenant owns and what others offer it"
      actions={
        <Button kind="primary" reason={refusal} onPress={() => set({ fresh: true })}>
          New pool
        </Button>
      }
    >
      <div className={styles["view"]}>
        <Segmented
          label="View"
          bare
          value={mine ? "mine" : "list"}
          choices={[
            { value: "list", name: "Pools" },
            { value: "mine", name: "Mine across all pools" },
          ]}
          onChange={(next) => set({ mine: next === "mine" ? true : undefined })}
        />
      </div>
      <Loaded query={query} what="pools" lines={6}>
        {({ pools }) => (mine ? <MinePanel pools={pools} /> : <List pools={pools} />)}
      </Loaded>
      {fresh && <NewPool onClose={() => set({ fresh: undefined })} />}
    </Page>
  );
}

function List({ pools }: { readonly pools: readonly Pool[] }): ReactNode {
  const { queries, tenantId, who } = useSession();
  const search = useSearch({ from: "/pools" });
  const summary = useQuery(queries.capacity.summary.queryOptions({ tenantId }));
  const counts = useMemo(
    () =>
      new Map(
        (summary.data?.pools ?? []).map((each): [string, PoolCapacity] => [each.poolId, each]),
      ),
    [summary.data],
  );
  const shown = matching(pools, search);
  if (pools.length === 0)
    return (
      <Empty title="No pools">
        This tenant owns none and is offered none. Who owns machines makes a pool of them and offers
        it.
      </Empty>
    );
  return (
    <>
      {who.scope?.poolIds && <Partial>Your key is limited: other pools are left out.</Partial>}
      <Filters pools={pools} />
      {shown.length === 0 ? (
        <Empty title="No pool is like that">Take a filter away.</Empty>
      ) : (
        <PoolTable pools={shown} counts={counts} />
      )}
    </>
  );
}

const KIND_NAMES: readonly { readonly value: PoolKind; readonly name: string }[] = [
  { value: "all", name: "Owned and offered" },
  { value: "owned", name: "Owned" },
  { value: "offered", name: "Offered to me" },
  { value: "archived", name: "Archived" },
];

function Filters({ pools }: { readonly pools: readonly Pool[] }): ReactNode {
  const { kind, model, q, sharing } = useSearch({ from: "/pools" });
  const set = useSetSearch<PoolsSearch>();
  const models = [...new Set(pools.flatMap(({ gpuModel }) => gpuModel ?? []))].toSorted();
  const modes = [...new Set(pools.map((pool): string => pool.sharing))].toSorted();
  return (
    <div className={styles["filters"]}>
      <TextField
        label="Find a pool"
        type="search"
        value={q ?? ""}
        placeholder="Label, model or region"
        onChange={(next) => set({ q: next === "" ? undefined : next })}
      />
      <Select
        label="Whose"
        value={kind ?? "all"}
        choices={KIND_NAMES}
        onChange={(next) => set({ kind: next === "all" ? undefined : next })}
      />
      <Select
        label="Model"
        value={model ?? ""}
        choices={[
          { value: "", name: "Any model" },
          ...models.map((value) => ({ value, name: modelText(value) })),
        ]}
        onChange={(next) => set({ model: next === "" ? undefined : next })}
      />
      <Select
        label="Sharing"
        value={sharing ?? ""}
        choices={[
          { value: "", name: "Any sharing" },
          ...modes.map((value) => ({ value, name: value })),
        ]}
        onChange={(next) => set({ sharing: next === "" ? undefined : next })}
      />
    </div>
  );
}
