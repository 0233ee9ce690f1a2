/** The other entries: compiled against the packed package, with its optional peers installed. */
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { createBerth } from "@berth/client";
import type { Berth, PoolList, Reservation } from "@berth/client";
import { otelHooks } from "@berth/client/otel";
import { createBerthQueries } from "@berth/client/react";
import { withBerth } from "@berth/client/testing";

/** A client that makes a span of every try. */
export function traced(url: string): Berth {
  return createBerth({ url, hooks: [otelHooks(), { onRetry: ({ ms }) => void ms }] });
}

/** What a component of React does with it. */
export function usePage(berth: Berth, tenantId: string, poolId: string): string {
  const queries = createBerthQueries(berth);
  const pools = useQuery(queries.pools.list.queryOptions({ tenantId }));
  const whoami = useQuery({ ...queries.access.whoami.queryOptions(), enabled: pools.isSuccess });
  const book = useMutation(queries.reservations.create.mutationOptions());
  const list = useInfiniteQuery(queries.reservations.list.infiniteQueryOptions({ tenantId }));
  const devices = [{ class: "gpu" as const, count: 1 }];
  if (whoami.data) book.mutate({ tenantId, poolId, devices, duration: "1h" });
  const booked: Reservation | undefined = book.data;
  const names: PoolList | undefined = pools.data;
  const first: Reservation | undefined = list.data?.pages[0]?.reservations[0];
  // @ts-expect-error a query of a list of pools holds no reservations
  void pools.data?.reservations;
  // @ts-expect-error there is no such method
  void queries.pools.destroy;
  // @ts-expect-error a stream is no query
  void queries.reservations.watch;
  return `${names?.pools.length} ${booked?.id} ${first?.id}`;
}

/** Data in the cache has the type of its key. */
export function cached(berth: Berth, client: QueryClient, tenantId: string): number | undefined {
  const { queryKey } = createBerthQueries(berth).pools.list.queryOptions({ tenantId });
  void client.invalidateQueries({ queryKey: createBerthQueries(berth).pools.list.queryKey() });
  return client.getQueryData(queryKey)?.pools.length;
}

/** A test of a program that books. */
export async function tested(): Promise<string> {
  await using server = await withBerth({ timeoutMs: 30_000 });
  const { tenantId } = await createBerth(server).access.whoami();
  return tenantId;
}
