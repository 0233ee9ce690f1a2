/** Who is signed in, for which tenant, and the one client of the tab. Pages take all three from `useSession()`. */
import { createBerth } from "@berth/client";
import type { Berth, Hooks, Tenant, Whoami } from "@berth/client";
import { createBerthQueries } from "@berth/client/react";
import type { BerthQueries } from "@berth/client/react";
import { createContext, use } from "react";
import { hearingFetch } from "./hearing.ts";

/** What every page works with. */
export interface Session {
  readonly berth: Berth;
  /** Factories for TanStack Query: `useQuery(queries.pools.list.queryOptions({ tenantId }))`. */
  readonly queries: BerthQueries;
  /** Who the server takes the caller for. */
  readonly who: Whoami;
  /** The tenant that the page is about; calls are made for it. */
  readonly tenantId: string;
  /** The tenants that the caller has a role on. */
  readonly tenants: readonly Tenant[];
  /** A client for one stream of events, whose standing the badge tells. */
  listen(): StreamClient;
  setTenant(tenantId: string): void;
  signOut(): void;
}

export interface StreamClient {
  readonly berth: Berth;
  /** The stream is left. */
  close(): void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("useSession needs somebody signed in");
  return session;
}

/**
 * A client of one credential. The console is served by the server that it calls.
 *
 * @param told for a client of one stream: its hooks, and what is called for all that comes over it
 */
export function clientOf(
  token: string | (() => Promise<string>),
  told?: { readonly hooks: Hooks; readonly heard: () => void },
): { readonly berth: Berth; readonly queries: BerthQueries } {
  const berth = createBerth({
    url: location.origin,
    token,
    ...(told && { hooks: told.hooks, fetch: hearingFetch(told.heard) }),
    appInfo: { name: "berth-console" },
  });
  return { berth, queries: createBerthQueries(berth) };
}
