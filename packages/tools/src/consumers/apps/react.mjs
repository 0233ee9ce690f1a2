/** A page of React on a server: a query that is filled before it is drawn, a mutation, a page of a list. */
import { QueryClient, QueryClientProvider, useMutation, useQuery } from "@tanstack/react-query";
import { createBerth, gpus } from "@berth/client";
import { createBerthQueries } from "@berth/client/react";
import { createElement as h } from "react";
import { renderToString } from "react-dom/server";

const berth = createBerth();
const queries = createBerthQueries(berth);
const cache = new QueryClient();

function Pools({ tenantId }) {
  const { data } = useQuery(queries.pools.list.queryOptions({ tenantId }));
  const book = useMutation(queries.reservations.create.mutationOptions());
  return h(
    "ul",
    { "data-idle": book.isIdle },
    data?.pools.map(({ id, gpuModel }) => h("li", { key: id }, gpuModel)),
  );
}

const { tenantId } = await cache.fetchQuery(queries.access.whoami.queryOptions());
const { pools } = await cache.fetchQuery(queries.pools.list.queryOptions({ tenantId }));
const page = renderToString(h(QueryClientProvider, { client: cache }, h(Pools, { tenantId })));

const mutation = queries.reservations.create.mutationOptions();
const ask = { tenantId, poolId: pools[0].id, ...gpus(1), duration: "10m" };
const { id: reservationId } = await cache.getMutationCache().build(cache, mutation).execute(ask);
const listed = await cache.fetchInfiniteQuery(
  queries.reservations.list.infiniteQueryOptions({ tenantId }),
);
const isListed = listed.pages[0].reservations.some(({ id }) => id === reservationId);
await berth.reservations.release({ tenantId, reservationId });

const items = page.match(/<li>[^<]+<\/li>/g) ?? [];
console.log(
  `${items.length === pools.length && items.length > 0 ? "every pool drawn" : page}, ${isListed ? "booked" : "not listed"}`,
);
