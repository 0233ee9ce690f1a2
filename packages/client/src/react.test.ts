import { MutationObserver, QueryClient } from "@tanstack/react-query";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  ask,
  inTurn,
  rejection,
  tenantId,
  told,
  unavailable,
  withServer,
} from "../test/berth-on-wire.ts";
import type { PoolList, Reservation, ReservationPage } from "./index.ts";
import { METHODS } from "./methods.gen.ts";
import { createBerthQueries } from "./react.ts";

describe("createBerthQueries", () => {
  it("has a factory for every method but the stream, by its kind", async () => {
    await withServer(
      () => ({ data: {} }),
      async (berth) => {
        const queries = createBerthQueries(berth) as unknown as Record<
          string,
          Record<string, object>
        >;
        for (const [group, methods] of Object.entries(METHODS))
          for (const [name, traits] of Object.entries(methods)) {
            const parts = Object.keys(queries[group]?.[name] ?? {}).toSorted();
            const { kind, page } = traits as { kind: string; page?: unknown };
            if (kind === "subscription") expect(parts).toEqual([]);
            else if (kind === "mutation") expect(parts).toEqual(["mutationKey", "mutationOptions"]);
            else if (page)
              expect(parts).toEqual(["infiniteQueryOptions", "queryKey", "queryOptions"]);
            else expect(parts).toEqual(["queryKey", "queryOptions"]);
          }
      },
    );
  });

  it("gives a query that the cache knows by the method and its input, with typed data", async () => {
    await withServer(
      (call) => ({ data: { pools: [{ id: (call.input as { tenantId: string }).tenantId }] } }),
      async (berth, server) => {
        const queries = createBerthQueries(berth);
        const client = new QueryClient();
        const options = queries.pools.list.queryOptions({ tenantId });
        expect(options.queryKey).toEqual(["berth", "pools", "list", { tenantId }]);
        const fetched = await client.fetchQuery(options);
        expect(fetched.pools[0]?.id).toBe(tenantId);
        const cached = client.getQueryData(options.queryKey);
        expectTypeOf(cached).toEqualTypeOf<PoolList | undefined>();
        expect(cached?.pools[0]?.id).toBe(tenantId);
        await client.fetchQuery(queries.access.whoami.queryOptions());
        // A key that is cut short names all below it.
        await client.invalidateQueries({ queryKey: queries.pools.list.queryKey() });
        expect(client.getQueryState(options.queryKey)?.isInvalidated).toBe(true);
        expect(client.getQueryState(queries.access.whoami.queryKey())?.isInvalidated).toBe(false);
        expect(server.requests()).toBe(2);
      },
    );
  });

  it("leaves retries to the client, and hands on the abort of a page that is left", async () => {
    await withServer(
      inTurn(unavailable),
      async (berth, server) => {
        const client = new QueryClient();
        const { queryOptions } = createBerthQueries(berth).pools.list;
        expect(await rejection(client.fetchQuery(queryOptions({ tenantId })))).toMatchObject({
          code: "UNAVAILABLE",
        });
        expect(server.requests()).toBe(2);
      },
      { maxRetries: 1 },
    );
    await withServer(
      () => "never",
      async (berth, server) => {
        const client = new QueryClient();
        const options = createBerthQueries(berth).pools.list.queryOptions({ tenantId });
        const fetching = rejection(client.fetchQuery(options));
        await expect.poll(() => server.requests()).toBe(1);
        await client.cancelQueries({ queryKey: options.queryKey });
        expect(await fetching).toBeInstanceOf(Error);
      },
    );
  });

  it("gives pages that follow each other", async () => {
    await withServer(
      (call) => {
        const { cursor, after } = call.input as { cursor?: string; after?: string };
        const at = cursor ?? after ?? "1";
        const nextCursor = at === "3" ? null : String(Number(at) + 1);
        return { data: { events: [{ id: at }], reservations: [{ id: at }], nextCursor } };
      },
      async (berth) => {
        const client = new QueryClient();
        const { events, reservations } = createBerthQueries(berth);
        const all = { pages: 9 };
        const told = await client.fetchInfiniteQuery({
          ...events.list.infiniteQueryOptions({ tenantId }),
          ...all,
        });
        const options = reservations.list.infiniteQueryOptions({ tenantId });
        const booked = await client.fetchInfiniteQuery({ ...options, ...all });
        expectTypeOf(booked.pages).toEqualTypeOf<ReservationPage[]>();
        for (const { pages, pageParams } of [told, booked]) {
          expect(pages.map(({ nextCursor }) => nextCursor)).toEqual(["2", "3", null]);
          expect(pageParams).toEqual([null, "2", "3"]);
        }
        expect(options.queryKey.at(-1)).toBe("pages");
        expectTypeOf(client.getQueryData(options.queryKey)?.pages).toEqualTypeOf<
          ReservationPage[] | undefined
        >();
      },
    );
  });

  it("gives a mutation that books once a call, and fails with the client's error", async () => {
    const full = { status: 409, berth: told("NO_CAPACITY") };
    await withServer(inTurn(unavailable, { data: { id: "r" } }, full), async (berth, server) => {
      const queries = createBerthQueries(berth, { prefix: "left" });
      const { mutationKey, mutationOptions } = queries.reservations.create;
      expect(mutationKey()).toEqual(["left", "reservations", "create"]);
      const observer = new MutationObserver(new QueryClient(), mutationOptions());
      const booked = await observer.mutate(ask);
      expectTypeOf(booked).toEqualTypeOf<Reservation>();
      expect(booked.id).toBe("r");
      expect(await rejection(observer.mutate(ask))).toMatchObject({ code: "NO_CAPACITY" });
      const keys = server.arrived.map(
        (call) => (call.input as { idempotencyKey: string }).idempotencyKey,
      );
      expect(keys[0]).toBe(keys[1]);
      expect(keys[2]).not.toBe(keys[1]);
    });
  });
});
