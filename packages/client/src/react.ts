/**
 * `@berth/client/react`: for each method what TanStack Query's hooks take, so that a component names a method and its
 * input and nothing else. It runs no React of its own.
 */
import type { DataTag, InfiniteData } from "@tanstack/react-query";
import type { Berth } from "./berth.ts";
import type { BerthError } from "./errors.ts";
import { METHODS } from "./methods.gen.ts";
import type { MethodTraits } from "./methods.gen.ts";
import type { CallOptions } from "./options.ts";
import type { BerthQueries } from "./queries.gen.ts";

export type * from "./queries.gen.ts";

/** What names a query: the prefix, the group, the method and the input. A key that is cut short names all below it. */
export type BerthKey = readonly unknown[];

/** What `useQuery`, `useSuspenseQuery` and `prefetchQuery` take. */
export interface BerthQueryOptions<O> {
  /** Knows the type of its data: `queryClient.getQueryData(queryKey)`. */
  queryKey: DataTag<BerthKey, O, BerthError>;
  /** Calls the method; leaving the page aborts it. */
  queryFn: (context: { readonly signal: AbortSignal }) => Promise<O>;
  /** The client has tried again already. */
  retry: false;
}

/** What `useInfiniteQuery` takes. */
export interface BerthInfiniteQueryOptions<O> {
  /** Knows the type of its data. */
  queryKey: DataTag<BerthKey, InfiniteData<O, string | null>, BerthError>;
  /** Asks for one page. */
  queryFn: (context: {
    readonly signal: AbortSignal;
    readonly pageParam: string | null;
  }) => Promise<O>;
  /** The first page. */
  initialPageParam: string | null;
  /** The page's `nextCursor`: null on the last one. */
  getNextPageParam: (page: O) => string | null;
  /** The client has tried again already. */
  retry: false;
}

/** What `useMutation` takes. */
export interface BerthMutationOptions<I, O> {
  /** Names the method. */
  mutationKey: BerthKey;
  /** Calls the method: each call with a key of its own, which its retries keep. */
  mutationFn: (input: I) => Promise<O>;
}

/** A method that reads. */
export interface BerthQuery<I, O> {
  /** The key of one input; without it, of all: `invalidateQueries({ queryKey: queries.pools.list.queryKey() })`. */
  queryKey(input?: I): BerthKey;
  /** For one input. */
  queryOptions(input: I): BerthQueryOptions<O>;
}

/** A method that reads in pages. */
export interface BerthInfiniteQuery<I, O> extends BerthQuery<I, O> {
  /** For all pages of one input. */
  infiniteQueryOptions(input: I): BerthInfiniteQueryOptions<O>;
}

/** A method that changes something. */
export interface BerthMutation<I, O> {
  /** Names the method. */
  mutationKey(): BerthKey;
  /** For every input. */
  mutationOptions(): BerthMutationOptions<I, O>;
}

/** How keys begin. */
export interface BerthQueriesOptions {
  /** What every key begins with; default `berth`. Two servers in one cache need two. */
  readonly prefix?: string | undefined;
}

/**
 * Factories for TanStack Query, by group and method as in the client.
 *
 * @example
 * const queries = createBerthQueries(berth);
 * const pools = useQuery(queries.pools.list.queryOptions({ tenantId }));
 * const book = useMutation(queries.reservations.create.mutationOptions());
 */
export function createBerthQueries(
  berth: Berth,
  { prefix = "berth" }: BerthQueriesOptions = {},
): BerthQueries {
  const groups = Object.entries(METHODS).map(([group, methods]) => {
    const functions = berth[group as keyof typeof METHODS] as unknown as Record<string, AnyMethod>;
    const factories = Object.entries<MethodTraits>(methods)
      .filter(([, { kind }]) => kind !== "subscription")
      .map(([name, traits]) => {
        const key = [prefix, group, name];
        const method = functions[name] as AnyMethod;
        return [name, traits.kind === "read" ? query(method, traits, key) : mutation(method, key)];
      });
    return [group, Object.fromEntries(factories)];
  });
  // METHODS names exactly the members of BerthQueries and one more kind; building it by name loses that.
  return Object.fromEntries(groups) as unknown as BerthQueries;
}

type AnyMethod = (input: object | undefined, options?: CallOptions) => Promise<object>;

/** Without the tags, which are types alone. */
type Bare = Record<string, unknown>;

function query(method: AnyMethod, { page }: MethodTraits, key: BerthKey): Bare {
  const keyOf = (input?: object): BerthKey => (input === undefined ? key : [...key, input]);
  const plain: Bare = {
    queryKey: keyOf,
    queryOptions: (input?: object) => ({
      queryKey: keyOf(input),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => method(input, { signal }),
      retry: false,
    }),
  };
  if (!page) return plain;
  const [, cursor] = page;
  const infiniteQueryOptions = (input: object): Bare => ({
    // Pages are another kind of data than the first page alone.
    queryKey: [...keyOf(input), "pages"],
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | null }) =>
      method(pageParam === null ? input : { ...input, [cursor]: pageParam }, { signal }),
    initialPageParam: null,
    getNextPageParam: (answer: { readonly nextCursor?: string | null }) =>
      answer.nextCursor ?? null,
    retry: false,
  });
  return { ...plain, infiniteQueryOptions };
}

function mutation(method: AnyMethod, key: BerthKey): Bare {
  return {
    mutationKey: () => key,
    mutationOptions: () => ({
      mutationKey: key,
      mutationFn: (input: object) => method(input),
    }),
  };
}
