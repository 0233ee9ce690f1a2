/**
 * Every setting of the server, read from the environment and nowhere else. A value that cannot be used
 * stops the start with one line that names the variable and says what it should be.
 */
import { isIP } from "node:net";
import { z } from "zod";
import { TRACING_VARIABLES, type TracingSettings, tracingSettings } from "./tracing/settings.ts";
import { OIDC_VARIABLES, type OidcConfig, readOidc } from "./config-oidc.ts";
import { variable } from "./variable.ts";

/** Thrown with a line for the person who started the process; no stack is of use to them. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

const integer = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((n) => n >= from && n <= to, `must be a whole number from ${from} to ${to}`);

const secret = z
  .string()
  .min(32, "must be at least 32 characters; `openssl rand -hex 32` makes one")
  .max(512, "must be at most 512 characters")
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/\S+$/, "must be a URL like postgres://user:password@host:5432/berth");

const httpUrl = z.string().regex(/^https?:\/\/\S+$/, "must be a URL like http://127.0.0.1:8787");

const tenantId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, "must be 1 to 128 letters, digits or . _ : -");

/** Never a count of hops and never everybody: whoever comes by another way would choose its own address. */
const proxies = z.string().transform((text, context) => {
  const all = text.split(",").map((each) => each.trim());
  if (all.every(isNetwork)) return all;
  context.addIssue({
    code: "custom",
    message: "must be addresses or networks by comma, as 10.0.0.7,10.1.0.0/16,::1",
  });
  return z.NEVER;
});

function isNetwork(text: string): boolean {
  const [address = "", bits, more] = text.split("/");
  const width = { 0: 0, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  if (width === 0 || more !== undefined) return false;
  // Of all addresses there are none that come by a proxy.
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= width)
  );
}

/** 32 bytes, as 64 hexadecimal digits or as base64. */
const sealKey = z.string().transform((text, context) => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64");
  if (bytes.length === 32) return new Uint8Array(bytes);
  context.addIssue({
    code: "custom",
    message: "must be 32 bytes in hex or base64; `openssl rand -hex 32` makes them",
  });
  return z.NEVER;
});

/** One rule of BERTH_FAILPOINT; which points there are is known to whoever passes them. */
export const FAILPOINT_RULE =
  /^(?<point>[a-z.]+):(?:(?<sudden>kill|stop|throw)|delay:(?<ms>\d{1,6})|pause:(?<file>.+?))(?::(?<nth>[1-9]\d{0,8}))?$/;

const failpoints = z
  .string()
  .refine(
    (text) => text.split(",").every((rule) => FAILPOINT_RULE.test(rule)),
    "must be point:action or point:action:nth, several by comma; actions are kill, stop, throw, delay:ms and pause:file",
  );

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const VARIABLES = {
  PORT: variable(integer(0, 65_535), "8787", "port to listen on; 0 takes any free one"),
  HOST: variable(z.string().max(255), "127.0.0.1", "address to listen on"),
  DATABASE_URL: variable(
    postgresUrl,
    "embedded",
    "PostgreSQL 15 or newer; without it an embedded server keeps its files in BERTH_DATA_DIR",
  ),
  BERTH_DB_CONNECTIONS: variable(
    integer(2, 200),
    "16",
    "connections to the database: half of them read, half of them write",
  ),
  BERTH_DATA_DIR: variable(z.string().max(4_096), ".berth", "folder of the embedded database"),
  BERTH_BOOTSTRAP_TOKEN: variable(
    secret,
    "none",
    "makes the first fleet-admin key, only while no key exists; at least 32 characters",
  ),
  BERTH_PLATFORM_ORG: variable(
    tenantId,
    "none (embedded: platform)",
    "tenant of the platform operator, in the audience of every unit reservation; made at start when missing, and without it unit reservations are refused",
  ),
  BERTH_POLICY_DIR: variable(
    z.string().max(4_096),
    "none",
    "folder of extra Cedar policies, *.cedar files and nothing else; one without a policy stops the start",
  ),
  ...OIDC_VARIABLES,
  BERTH_RATE_LIMIT: variable(integer(1, 1_000_000_000), "60000", "calls a minute for a principal"),
  BERTH_ADDRESS_RATE_LIMIT: variable(
    integer(1, 1_000_000_000),
    "600000",
    "calls a minute from one address, pages that need no key included; behind a proxy all come from its own until BERTH_TRUSTED_PROXIES names it",
  ),
  BERTH_PUBLIC_URL: variable(
    httpUrl.transform((url) => url.replace(/\/+$/, "")),
    "none",
    "where callers reach this server: what the addresses in error answers begin with; without it they are relative",
  ),
  BERTH_TRUSTED_PROXIES: variable(
    proxies,
    "none",
    "addresses and networks, by comma, whose X-Forwarded-For and -Proto are believed",
  ),
  BERTH_SEAL_KEY: variable(
    sealKey,
    "none",
    "32 bytes in hex or base64 that encrypt policy secrets at rest; without it they are refused",
  ),
  BERTH_METRICS_TOKEN: variable(
    secret,
    "none",
    "bearer token of /metrics; without it /metrics is not served",
  ),
  BERTH_URL: variable(
    httpUrl,
    "what berth login keeps, else http://HOST:PORT",
    "the server that import, keys and tenants talk to",
  ),
  BERTH_TOKEN: variable(
    z.string().max(8_192),
    "what berth login keeps for BERTH_URL; for the server of this machine its own key",
    "the key, or token of the issuer, that import, keys and tenants present",
  ),
  BERTH_FAILPOINT: variable(
    failpoints,
    "none",
    "for tests of Berth itself: where this process is to break, such as apply.before:kill:3",
  ),
  ...TRACING_VARIABLES,
  LOG_LEVEL: variable(
    z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`),
    "info",
    `the least grave of what is logged: ${LOG_LEVELS.join(", ")}`,
  ),
  NO_COLOR: variable(z.string(), "colours on a terminal", "any value switches colours off"),
} as const;

export interface Config {
  readonly port: number;
  /** PORT was set: no other one will do. */
  readonly portIsGiven: boolean;
  readonly host: string;
  /** Null = embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly databaseConnections: number;
  readonly dataDir: string;
  readonly bootstrapToken: string | null;
  readonly platformOrg: string | null;
  readonly policyDir: string | null;
  /** Null = only keys sign in. */
  readonly oidc: OidcConfig | null;
  /** Calls a minute. */
  readonly rateLimit: number;
  readonly addressRateLimit: number;
  /** Without a slash at the end. */
  readonly publicUrl: string | null;
  readonly trustedProxies: readonly string[];
  readonly sealKey: Uint8Array | null;
  readonly metricsToken: string | null;
  readonly url: string | null;
  readonly token: string | null;
  /** Null outside of tests; see `failpoint.ts`. */
  readonly failpoints: string | null;
  /** Null = no traces. */
  readonly tracing: TracingSettings | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly color: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;
export type VariableName = keyof typeof VARIABLES;
const ALL = Object.keys(VARIABLES) as readonly VariableName[];

/**
 * Reads and checks the settings; an empty variable counts as not set, and so does one that is not in `names`.
 * @throws ConfigError one line per bad value, each naming its variable; values are not repeated, they may be secrets
 */
export function readConfig(
  environment: Environment = process.env,
  names: readonly VariableName[] = ALL,
): Config {
  const problems: string[] = [];
  const textOf = (name: VariableName) => (names.includes(name) && environment[name]) || null;
  const isSet = (name: VariableName) => textOf(name) !== null;
  const read = <K extends VariableName>(
    name: K,
  ): z.output<(typeof VARIABLES)[K]["schema"]> | null => {
    const text = textOf(name);
    if (text === null) return null;
    const parsed = VARIABLES[name].schema.safeParse(text);
    if (parsed.success) return parsed.data as z.output<(typeof VARIABLES)[K]["schema"]>;
    problems.push(`${name} ${parsed.error.issues[0]?.message ?? "is not valid"}`);
    return null;
  };
  const port = read("PORT");
  const config: Config = {
    port: port ?? 8787,
    portIsGiven: port !== null,
    host: read("HOST") ?? "127.0.0.1",
    databaseUrl: read("DATABASE_URL"),
    databaseConnections: read("BERTH_DB_CONNECTIONS") ?? 16,
    dataDir: read("BERTH_DATA_DIR") ?? ".berth",
    bootstrapToken: read("BERTH_BOOTSTRAP_TOKEN"),
    platformOrg: read("BERTH_PLATFORM_ORG"),
    policyDir: read("BERTH_POLICY_DIR"),
    oidc: readOidc({ read, isSet, problem: (line) => problems.push(line) }),
    rateLimit: read("BERTH_RATE_LIMIT") ?? 60_000,
    addressRateLimit: read("BERTH_ADDRESS_RATE_LIMIT") ?? 600_000,
    publicUrl: read("BERTH_PUBLIC_URL"),
    trustedProxies: read("BERTH_TRUSTED_PROXIES") ?? [],
    sealKey: read("BERTH_SEAL_KEY"),
    metricsToken: read("BERTH_METRICS_TOKEN"),
    url: read("BERTH_URL"),
    token: read("BERTH_TOKEN"),
    failpoints: read("BERTH_FAILPOINT"),
    tracing: tracingSettings(read),
    logLevel: read("LOG_LEVEL") ?? "info",
    color: read("NO_COLOR") === null && process.stdout.isTTY,
  };
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return config;
}

/** What a server that is gone with its test does not heed: it is meant for the real one beside it. */
const NOT_FOR_TESTS: readonly VariableName[] = [
  "PORT",
  "HOST",
  "DATABASE_URL",
  "BERTH_DATA_DIR",
  "BERTH_BOOTSTRAP_TOKEN",
  "BERTH_PUBLIC_URL",
  "BERTH_URL",
  "BERTH_TOKEN",
];

/**
 * The settings of `serve --ephemeral`: any free port of this machine, and warnings unless LOG_LEVEL says more.
 * @throws ConfigError
 */
export function readEphemeralConfig(environment: Environment = process.env): {
  readonly config: Config;
  /** Variables that are set and not heeded. */
  readonly unheeded: readonly string[];
} {
  const heeded = ALL.filter((name) => !NOT_FOR_TESTS.includes(name));
  const level = environment["LOG_LEVEL"] || "warn";
  const config = readConfig({ ...environment, LOG_LEVEL: level }, heeded);
  return {
    config: { ...config, port: 0 },
    unheeded: NOT_FOR_TESTS.filter((name) => environment[name]),
  };
}

/** A setting as the reference shows it. */
export interface Setting {
  readonly name: string;
  readonly says: string;
  readonly unset: string;
  /** What the start demands of a value, in the words that it refuses one with; null: any text. */
  readonly must: string | null;
}

/** Never part of a usable value: what is refused about it says what is demanded. */
const UNUSABLE = "\0";

export function settings(): Setting[] {
  return Object.entries(VARIABLES).map(([name, { schema, unset, says }]) => {
    const messages = schema.safeParse(UNUSABLE).error?.issues.map(({ message }) => message);
    return { name, says, unset, must: messages?.join("; ") ?? null };
  });
}

/** The list that `--help` prints: a line a variable. */
export function describeVariables(names: readonly VariableName[] = ALL): string {
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => {
    const { unset, says } = VARIABLES[name];
    return `  ${name.padEnd(width)}  ${says} [${unset}]`;
  });
  return ["Environment:", ...lines].join("\n");
}
