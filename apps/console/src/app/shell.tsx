/** What stands around every page: bar, rooms, the selected booking's facts, toasts. */
import { Link, Outlet, useRouterState, useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { Toaster } from "sonner";
import "sonner/dist/styles.css";
import icon from "../icon.svg";
import { Icon } from "../ui/icons.tsx";
import { Empty, ErrorBox, Loading } from "../ui/states.tsx";
import { LiveBadge } from "./live-badge.tsx";
import { TenantMenu, UserMenu, ZoneMenu } from "./menus.tsx";
import { ROOMS } from "./nav.ts";
import { SessionProvider } from "./session-provider.tsx";
import styles from "./shell.module.css";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

const FactsPanel = lazy(async () => ({
  default: (await import("../facts/facts-panel.tsx")).FactsPanel,
}));

export function Shell(): ReactNode {
  return (
    <>
      <SessionProvider>
        <Frame />
      </SessionProvider>
      <Toaster position="bottom-right" closeButton offset={16} mobileOffset={{ bottom: 72 }} />
    </>
  );
}

function Frame(): ReactNode {
  const [isSearching, setSearching] = useState(false);
  const hasSelection = useSearch({ strict: false }).rsv !== undefined;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setSearching(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.brand} aria-label="Berth, overview">
          <img src={icon} alt="" />
          <span>Berth</span>
        </Link>
        <button
          type="button"
          className={styles.search}
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setSearching(true)}
        >
          <Icon name="search" />
          <span className={styles.word}>Search</span>
          <kbd className={styles.wide} aria-hidden="true">
            Ctrl K
          </kbd>
        </button>
        <span className={styles.spread} />
        <LiveBadge />
        <TenantMenu />
        <ZoneMenu />
        <UserMenu />
      </header>
      <Rooms />
      <PageArea />
      {hasSelection ? (
        <Suspense>
          <FactsPanel />
        </Suspense>
      ) : null}
      {isSearching ? (
        <Suspense>
          <Palette onClose={() => setSearching(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}

function Rooms(): ReactNode {
  return (
    <nav className={styles.nav} aria-label="Pages">
      <ul>
        {ROOMS.map(({ to, name, icon: sign }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === "/", includeSearch: false }}>
              <Icon name={sign} />
              <span>{name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function PageArea(): ReactNode {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const last = useRef(path);
  useEffect(() => {
    // Another page is said to who hears it; the first one needs no help.
    if (last.current !== path) main.current?.focus({ preventScroll: true });
    last.current = path;
  }, [path]);
  return (
    <main id="main" ref={main} tabIndex={-1} className={styles.main}>
      <div className={styles.inner}>
        <Suspense fallback={<Loading what="the page" lines={6} />}>
          <Outlet />
        </Suspense>
      </div>
    </main>
  );
}

/** A page that failed: the rooms around it stay. */
export function PageFailed({ error }: { readonly error: unknown }): ReactNode {
  return <ErrorBox error={inWords(error)} onRetry={() => location.reload()} />;
}

/** Each browser has its own words for a part of the console that did not come. */
function inWords(error: unknown): unknown {
  const lost =
    error instanceof Error && /preload|dynamically imported|module script/i.test(error.message);
  return lost
    ? new Error(
        "This page could not be loaded: the server is out of reach, or was renewed meanwhile.",
      )
    : error;
}

export function NoSuchPage(): ReactNode {
  return (
    <Empty title="There is no such page" action={<Link to="/">To the overview</Link>}>
      The address leads nowhere.
    </Empty>
  );
}
