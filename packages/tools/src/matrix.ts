/**
 * Which room may import which: the house's one table, read by `boundaries.ts`. A folder under packages/ or
 * apps/ without a row here is a violation, so a new room starts with a decision.
 */

/** `types` are erased before anything runs; `constants` are types and UPPER_CASE values. */
export type Access = "all" | "constants" | "types";
export type RoomPath = `packages/${string}` | `apps/${string}`;

export interface Room {
  /** Package name to what may be taken from it; a package that is absent may not be imported. */
  readonly may: Readonly<Record<string, Access>>;
  /** Values beyond the constants that a `constants` room may take: pure, and part of what is published. */
  readonly helpers?: readonly string[];
  /** Parts of the room (path prefixes) that may import more, and why. */
  readonly parts?: readonly {
    readonly prefix: string;
    readonly may: Readonly<Record<string, Access>>;
  }[];
  /** What others may import beside the package itself and its `/testing`, such as `/commands`. */
  readonly doors?: readonly string[];
  /** Published or pure: its tests may not import other rooms either. */
  readonly alone?: boolean;
}

export const MATRIX: Readonly<Record<RoomPath, Room>> = {
  "packages/domain": { may: {}, alone: true },
  "packages/contract": {
    may: { "@berth/domain": "constants" },
    helpers: ["idPattern"],
    doors: ["/examples"],
  },
  "packages/db": { may: { "@berth/domain": "types" } },
  "packages/engine": { may: { "@berth/domain": "all", "@berth/db": "types" } },
  "packages/api": {
    may: {
      "@berth/domain": "all",
      "@berth/contract": "all",
      "@berth/db": "all",
      "@berth/engine": "all",
    },
  },
  "packages/client": { may: {}, doors: ["/react"], alone: true },
  "packages/tools": {
    may: {
      "@berth/domain": "all",
      "@berth/contract": "all",
      "@berth/db": "all",
      "@berth/engine": "all",
      "@berth/api": "all",
      "@berth/client": "all",
    },
  },
  "apps/server": {
    may: {
      "@berth/contract": "all",
      "@berth/db": "all",
      "@berth/engine": "all",
      "@berth/api": "all",
    },
    doors: ["/commands"],
    // Customers of a running server: they go through the published client.
    parts: ["demo", "import", "commands"].map((part) => ({
      prefix: `apps/server/src/${part}/`,
      may: { "@berth/client": "all" },
    })),
  },
  "apps/cli": {
    may: { "@berth/client": "all" },
    // The operators' commands, when the server is installed beside it: an optional dependency, loaded by need.
    parts: [{ prefix: "apps/cli/src/operators.ts", may: { "@berth/server": "all" } }],
  },
  "apps/console": { may: { "@berth/client": "all" } },
  "apps/docs": { may: {} },
};

/** Files that must not reach something, through any chain of imports that survive to run time. */
export interface Unreachable {
  readonly from: RegExp;
  /** House packages that must not be reached. */
  readonly packages?: readonly string[];
  /** Identifiers that must not appear in any file reached inside the room. */
  readonly names?: readonly string[];
  readonly because: string;
}

export const UNREACHABLE: readonly Unreachable[] = [
  {
    from: /^packages\/client\/src\/index\.ts$/,
    packages: ["@opentelemetry/api", "@tanstack/react-query", "react"],
    because: "the client's core runs where none of its optional peers is installed",
  },
  {
    from: /^packages\/api\/src\/groups\/capacity\/(preview|earliest-start)\.ts$/,
    names: ["submit", "moveNode", "rebuild", "createPoolStore", "applyPair"],
    because: "a question never books: it may read through the engine, not reach the gate",
  },
  {
    from: /^apps\/server\/src\/(.*\/)?doctor(\/.*)?(-[a-z-]+)?\.ts$/,
    packages: ["@berth/engine", "@berth/api", "@berth/domain"],
    because: "the doctor recounts from the bookings by code of its own",
  },
];
