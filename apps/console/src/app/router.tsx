/** Every address of the console, and the page behind it. Pages come lazily; what an address may carry is checked here. */
import {
  Navigate,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { activitySearch } from "../pages/activity/search.ts";
import { bookSearch } from "../pages/book/search.ts";
import { fleetSearch } from "../pages/fleet/search.ts";
import { overviewSearch } from "../pages/overview/search.ts";
import { poolSearch } from "../pages/pool/search.ts";
import { poolsSearch } from "../pages/pools/search.ts";
import { reservationsSearch } from "../pages/reservations/search.ts";
import { only, rootSearch } from "./search.ts";
import { NoSuchPage, PageFailed, Shell } from "./shell.tsx";

/** What every page's address may carry is checked by the root alone. */
const OF_THE_ROOT = ["tenant", "rsv"];

const root = createRootRoute({
  validateSearch: rootSearch,
  search: { middlewares: [retainSearchParams(["tenant"])] },
  component: Shell,
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: only(overviewSearch, OF_THE_ROOT),
  component: lazyRouteComponent(
    () => import("../pages/overview/overview-page.tsx"),
    "OverviewPage",
  ),
});

const pools = createRoute({
  getParentRoute: () => root,
  path: "/pools",
  validateSearch: only(poolsSearch, OF_THE_ROOT),
  component: lazyRouteComponent(() => import("../pages/pools/pools-page.tsx"), "PoolsPage"),
});

const pool = createRoute({
  getParentRoute: () => root,
  path: "/pools/$poolId",
  validateSearch: only(poolSearch, OF_THE_ROOT),
  component: lazyRouteComponent(() => import("../pages/pool/pool-page.tsx"), "PoolPage"),
});

const book = createRoute({
  getParentRoute: () => root,
  path: "/book",
  validateSearch: only(bookSearch, OF_THE_ROOT),
  component: lazyRouteComponent(() => import("../pages/book/book-page.tsx"), "BookPage"),
});

const reservations = createRoute({
  getParentRoute: () => root,
  path: "/reservations",
  validateSearch: only(reservationsSearch, OF_THE_ROOT),
  component: lazyRouteComponent(
    () => import("../pages/reservations/reservations-page.tsx"),
    "ReservationsPage",
  ),
});

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/fleet",
  validateSearch: only(fleetSearch, OF_THE_ROOT),
  component: lazyRouteComponent(() => import("../pages/fleet/fleet-page.tsx"), "FleetPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: only(activitySearch, OF_THE_ROOT),
  component: lazyRouteComponent(
    () => import("../pages/activity/activity-page.tsx"),
    "ActivityPage",
  ),
});

/** Where an issuer sends people back to; who is signed in has nothing to do here. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: () => <Navigate to="/" replace />,
});

export const router = createRouter({
  routeTree: root.addChildren([overview, pools, pool, book, reservations, fleet, activity, signIn]),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NoSuchPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
