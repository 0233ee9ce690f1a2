/** How every connection of ours is set up. */
import postgres, { type Options, type Sql } from "postgres";
import { parseInt8, parseNumeric } from "./numbers.ts";
import { closingWhenSilent } from "./silence.ts";

const INT8 = 20;
const NUMERIC = 1700;

/** Both arrive as text; see `numbers.ts`. */
const types = {
  bigint: { to: INT8, from: [INT8], serialize: String, parse: parseInt8 },
  numeric: { to: NUMERIC, from: [NUMERIC], serialize: String, parse: parseNumeric },
};
export type Types = { bigint: number; numeric: number };
export type Client = Sql<Types>;

/** Milliseconds after which the server itself ends what we left behind. */
const BOUNDS = {
  statement_timeout: 7_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 5_000,
  // A half-open connection is noticed in 20 s instead of two hours.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 2,
  // The gate needs it: an older snapshot would not show what its lock protects.
  default_transaction_isolation: "read committed",
  // A role named like one of our schemas would otherwise look there first.
  search_path: "public",
} as const;

/**
 * For connections that write: rows are looked up by their keys, whatever a plan that was made when the table was
 * empty takes for cheaper. Such a plan stays until the table is analyzed, a minute and some ten thousand rows later.
 */
const BY_KEY = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
} as const;

export type Bounds = Partial<
  Record<"statement_timeout" | "lock_timeout" | "idle_in_transaction_session_timeout", number>
>;

export interface ClientOptions extends Options<Record<string, never>> {
  readonly applicationName: string;
  readonly bounds?: Bounds;
  /** Rows are looked up by their keys only. */
  readonly byKey?: boolean;
  /** A connection that is silent for so long is given up; default: only when TCP does. */
  readonly silentMs?: number;
}

/**
 * Seconds between two tries to connect, apart enough that servers do not come all at once. The driver's own
 * grow to 20 s, and whatever is asked meanwhile waits for them: the database would be back long before.
 */
const AGAIN_S = 0.1;
const again = (): number => AGAIN_S * (1 + Math.random());

export function createClient(url: string, options: ClientOptions): Client {
  const { applicationName, bounds, byKey = false, silentMs, ...rest } = options;
  return postgres(url, {
    // A notice holds values of rows.
    onnotice: () => undefined,
    connect_timeout: 5,
    keep_alive: 10,
    max_lifetime: null,
    backoff: again,
    ...(silentMs === undefined ? {} : { socket: closingWhenSilent(silentMs) }),
    ...rest,
    types,
    connection: {
      ...BOUNDS,
      ...bounds,
      ...(byKey ? BY_KEY : {}),
      application_name: applicationName,
    },
  });
}
