/** From a credential to a session: who it is, which tenants, one client, one stream. Without one: the sign-in page. */
import { isBerthError } from "@berth/client";
import type { Tenant, Whoami } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useCallback, useEffect, useMemo, useState } from "react";
import type { ReactNode } from "react";
import { timeText } from "../format/time.ts";
import { ErrorBox, Loading } from "../ui/states.tsx";
import { keepCredentials, readCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { follow, pulse, streamHooks } from "./live.ts";
import type { LiveOptions } from "./live.ts";
import { hearing, liveStore, useLive } from "./live-store.ts";
import { noticeOf, show } from "./notices.ts";
import { NoSuchTenant } from "./no-such-tenant.tsx";
import { createRenewal } from "./renewal.ts";
import type { Renew } from "./renewal.ts";
import { SessionContext, clientOf } from "./session.tsx";
import type { Session, StreamClient } from "./session.tsx";
import { ALL_KEYS } from "./stale-keys.ts";
import { isNoneOfMine } from "./tenants.ts";
import { tokenOf } from "./token.ts";
import { useZone } from "./zone.tsx";
import styles from "./shell.module.css";

const SignInPage = lazy(async () => ({
  default: (await import("../pages/sign-in/sign-in-page.tsx")).SignInPage,
}));

export function SessionProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [credentials, setCredentials] = useState(readCredentials);
  const [message, setMessage] = useState<string | null>(null);
  const queryClient = useQueryClient();
  const signIn = useCallback((next: Credentials) => {
    keepCredentials(next);
    setMessage(null);
    setCredentials(next);
  }, []);
  const signOut = useCallback(
    (why: string | null = null) => {
      keepCredentials(null);
      queryClient.clear();
      setMessage(why);
      setCredentials(null);
    },
    [queryClient],
  );
  if (credentials === null)
    return (
      <Suspense fallback={<Loading what="sign-in" />}>
        <SignInPage message={message} onSignIn={signIn} />
      </Suspense>
    );
  return (
    <SignedIn credentials={credentials} onSignOut={signOut}>
      {children}
    </SignedIn>
  );
}

const REFUSED: Readonly<Record<Credentials["kind"], string>> = {
  key: "This key is unknown, revoked or expired.",
  oidc: "The server does not take this sign-in: it has ended, or its claims give no role here.",
};

interface SignedInProps {
  readonly credentials: Credentials;
  readonly onSignOut: (why?: string | null) => void;
  readonly children: ReactNode;
}

function SignedIn({ credentials, onSignOut, children }: SignedInProps): ReactNode {
  const queryClient = useQueryClient();
  const { tenant: named } = useSearch({ from: "__root__" });
  const renew = useMemo(() => createRenewal(queryClient), [queryClient]);
  const client = useMemo(() => {
    const token = tokenOf(credentials, () => onSignOut("Your sign-in has ended."));
    const listen = (): StreamClient => {
      const { close, heard, ...stream } = hearing.listen();
      const { berth } = clientOf(token, {
        // What changed while nobody told us is asked again.
        hooks: streamHooks(stream, () => renew(ALL_KEYS)),
        heard: () => heard(Date.now()),
      });
      return { berth, close };
    };
    return { ...clientOf(token), listen };
  }, [credentials, onSignOut, renew]);
  const who = useQuery(client.queries.access.whoami.queryOptions());
  const tenants = useQuery(client.queries.fleet.listTenants.queryOptions());
  const isRefused = isBerthError(who.error, "UNAUTHENTICATED");
  useEffect(() => {
    if (isRefused) onSignOut(REFUSED[credentials.kind]);
  }, [isRefused, onSignOut, credentials]);
  if (who.data === undefined)
    return (
      <main className={styles.gate}>
        {who.error && !isRefused ? (
          <ErrorBox error={who.error} onRetry={() => void who.refetch()} />
        ) : (
          <Loading what="who you are" />
        )}
      </main>
    );
  // Nothing is asked or followed for a tenant of which nobody knows yet whether it is one.
  if (named !== undefined && named !== who.data.tenantId && tenants.isPending) return <Gate />;
  if (tenants.data && named && isNoneOfMine(named, who.data.tenantId, tenants.data.tenants))
    return (
      <NoSuchTenant
        tenantId={named}
        who={who.data}
        tenants={tenants.data.tenants}
        onSignOut={() => onSignOut()}
      />
    );
  return (
    <WithTenant
      client={client}
      renew={renew}
      who={who.data}
      tenants={tenants.data?.tenants ?? []}
      onSignOut={onSignOut}
    >
      {children}
    </WithTenant>
  );
}

interface WithTenantProps {
  readonly client: Pick<Session, "berth" | "queries" | "listen">;
  readonly renew: Renew;
  readonly who: Whoami;
  readonly tenants: readonly Tenant[];
  readonly onSignOut: (why?: string | null) => void;
  readonly children: ReactNode;
}

function WithTenant(props: WithTenantProps): ReactNode {
  const { client, renew, who, tenants, onSignOut, children } = props;
  const { tenant } = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  const tenantId = tenant ?? who.tenantId;
  const { berth, listen } = client;
  useStream({ berth, listen, tenantId, renew, onSignedOut: onSignOut });
  const mayAsk = useStreamFirst();
  const session = useMemo<Session>(
    () => ({
      ...client,
      who,
      tenantId,
      tenants,
      setTenant: (next) =>
        // Filters and selections are of the tenant that they were made for. Named as absent: what is not named stays.
        void navigate({
          to: ".",
          search: { tenant: next === who.tenantId ? undefined : next },
        }),
      signOut: () => onSignOut(),
    }),
    [client, who, tenantId, tenants, navigate, onSignOut],
  );
  return mayAsk ? <SessionContext value={session}>{children}</SessionContext> : <Gate />;
}

function Gate(): ReactNode {
  return (
    <main className={styles.gate}>
      <Loading what="the page" />
    </main>
  );
}

/** How long the page waits for the stream to open. */
const STREAM_MS = 500;

/**
 * The stream is opened before the page asks anything: what is asked then misses no event, and nothing has to be asked
 * twice. Where it does not open soon, the page is shown all the same and asked again when it does.
 */
function useStreamFirst(): boolean {
  const isOpen = useLive().kind !== "connecting";
  const [mayAsk, setMayAsk] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setMayAsk(true), isOpen ? 0 : STREAM_MS);
    return () => clearTimeout(timer);
  }, [isOpen]);
  return mayAsk;
}

interface StreamOptions extends Pick<LiveOptions, "berth" | "tenantId" | "renew"> {
  readonly listen: Session["listen"];
  readonly onSignedOut: (message: string) => void;
}

function useStream({ berth, listen, tenantId, renew, onSignedOut }: StreamOptions): void {
  const navigate = useNavigate();
  const { zone } = useZone();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    liveStore.set({ kind: "connecting" });
    const shared = { tenantId, renew, signal, store: liveStore };
    const stream = listen();
    const said = (at: number): string => timeText(at, zone, { now: Date.now() });
    void follow({
      ...shared,
      berth: stream.berth,
      onSignedOut,
      onEvent(event) {
        const notice = noticeOf(event, said);
        if (!notice) return;
        show(
          notice,
          () =>
            void navigate({
              to: ".",
              search: (before) => ({ ...before, rsv: notice.reservationId }),
            }),
        );
      },
    });
    pulse({ ...shared, berth, hearing });
    return () => {
      controller.abort();
      stream.close();
    };
  }, [berth, listen, tenantId, renew, navigate, zone, onSignedOut]);
}
