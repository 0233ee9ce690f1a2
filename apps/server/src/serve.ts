/**
 * One server from nothing to listening: database, migrations, first key, engine, HTTP; and back again in
 * the opposite order, so that what runs may finish and nothing is left behind.
 */
import { randomBytes } from "node:crypto";
import {
  type Api,
  DEFAULT_PLATFORM,
  anyKey,
  bootstrapKey,
  createAccess,
  createApi,
  ensureTenant,
  type Oidc,
  type OidcClock,
  newBootstrapToken,
  unopenedTokens,
} from "@berth/api";
import { type Database, type Failpoint, createPoolStore, migrate, openDatabase } from "@berth/db";
import { type BatchFacts, type Engine, type EngineObserver, createEngine } from "@berth/engine";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { addressProblem, tryAddress } from "./address.ts";
import { clearText } from "./clear-text.ts";
import type { Config } from "./config.ts";
import { dataFolder } from "./data-folder.ts";
import { type Server, databaseProblem, ownServer } from "./database.ts";
import { createFailpoint } from "./failpoint.ts";
import { type AllMetrics, createAllMetrics } from "./http/all-metrics.ts";
import { createApp } from "./http/app.ts";
import { CONSOLE_FOLDER } from "./http/console.ts";
import { createTraffic } from "./http/traffic.ts";
import { openapi } from "./openapi.ts";
import { startSignIn } from "./sign-in.ts";
import type { Tracing } from "./tracing/tracing.ts";
import { startUpkeep } from "./upkeep.ts";
import { version } from "./version.ts";

export interface ServeOptions {
  readonly log: Logger;
  /** A database that is gone when the server is. */
  readonly ephemeral?: boolean;
  /** The database's server, when it is on its way already; it is stopped with ours. */
  readonly server?: Promise<Server>;
  /** Whether calls count against the limits yet; absent: they do. */
  readonly counting?: () => boolean;
  /** Lines for the person who started it. */
  readonly say?: (line: string) => void;
  /** What tokens are held against, when it is not this machine's own. */
  readonly signInClock?: OidcClock | undefined;
  /** Where the built web console is, when it is not where the workspace builds it. */
  readonly consoleFolder?: string | undefined;
}

export interface Running {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly database: Database;
  readonly engine: Engine;
  /** A fleet-admin key: the one just made, or kept from an embedded first start. */
  readonly adminKey: string | null;
  /** New calls get 503, running ones finish; then everything that was started stops. */
  stop(): Promise<void>;
}

/** The drain has half a minute; some of it belongs to the engine, the database and the sockets. */
const DRAIN_MS = 20_000;
const READY_TIMEOUT_MS = 2_000;

/**
 * @throws ConfigError, BootstrapError, PolicyError, FolderInUse, DatabaseUnavailable: the start stops, nothing
 * is left running
 */
export async function serve(config: Config, options: ServeOptions): Promise<Running> {
  const undo: (() => Promise<unknown>)[] = [];
  const unwind = async () => {
    const failed: unknown[] = [];
    // A step that fails keeps none of the others from being taken.
    for (const step of undo.splice(0).toReversed())
      await step().catch((error: unknown) => failed.push(error));
    if (failed.length > 0) throw failed[0];
  };
  let server: Server | null = null;
  const failpoint = failpointOf(config, options);
  try {
    await tryAddress(config);
    const oidc = await startSignIn(config, options.log, options.signInClock);
    const { ephemeral = false } = options;
    const own = await (options.server ?? ownServer(config, { ephemeral, failpoint }));
    server = own;
    undo.push(() => own.stop());
    warnOfClearText(own, options);
    return await start(config, options, { server: own, oidc, failpoint, undo, unwind });
  } catch (error) {
    await unwind().catch(() => undefined);
    throw server ? databaseProblem(error, server.url) : error;
  }
}

/** Whoever meets such a server by accident is to know why it breaks. */
function failpointOf(config: Config, { log, say }: ServeOptions): Failpoint | undefined {
  const failpoint = createFailpoint(config.failpoints);
  if (!failpoint) return undefined;
  const { failpoints } = config;
  say?.(`WARNING: BERTH_FAILPOINT is set: this server breaks on purpose (${failpoints})`);
  log.warn({ failpoints }, "BERTH_FAILPOINT is set: this server breaks on purpose");
  return failpoint;
}

/** A warning and no refusal: within one machine's private network there may be no TLS to have. */
function warnOfClearText({ url }: Server, { log, say }: ServeOptions): void {
  const risk = clearText(url);
  if (risk === null) return;
  say?.(`WARNING: ${risk}`);
  log.warn({ risk }, "the way to the database is not safe from others");
}

interface Stage {
  readonly server: Server;
  readonly oidc: Oidc | null;
  readonly failpoint: Failpoint | undefined;
  readonly undo: (() => Promise<unknown>)[];
  unwind(): Promise<void>;
}

interface Ground {
  readonly stage: Stage;
  readonly database: Database;
  readonly tracing: Tracing | null;
}

/** What decides calls, and what is counted of it. */
function createParts(
  config: Config,
  options: ServeOptions,
  { stage, database, tracing }: Ground,
): { metrics: AllMetrics; engine: Engine; api: Api } {
  const { log } = options;
  const metrics = createAllMetrics(version());
  let announce = (): void => undefined;
  const engine = createEngine({
    store: createPoolStore(database),
    random: randomBytes,
    log,
    elapsed: () => performance.now(),
    failpoint: stage.failpoint,
    observer: announcing(metrics.observer, (facts) => {
      tracing?.batch(facts);
      announce();
    }),
  });
  const api = createApi({
    db: database,
    engine: tracing?.engine(engine) ?? engine,
    observer: metrics.apiObserver,
    access: createAccess({
      db: database,
      log,
      policyDirectory: config.policyDir,
      oidc: stage.oidc,
      observer: metrics.apiObserver,
    }),
    log,
    random: randomBytes,
    options: { sealKey: config.sealKey, platformOrg: platformOf(config, options) },
  });
  announce = api.feed.announce.bind(api.feed);
  metrics.readFrom({
    feed: () => api.feed.figures(),
    waiting: () => engine.waiting,
    spans: () => tracing?.figures() ?? NO_SPANS,
  });
  return { metrics, engine, api };
}

async function start(config: Config, options: ServeOptions, stage: Stage): Promise<Running> {
  const { log } = options;
  await migrate(stage.server.url, {
    failpoint: stage.failpoint,
    blocked: (migration) =>
      log.warn({ migration }, "a migration gave way to others; it tries again"),
  });
  const tracing = await startTracing(config, log);
  stage.undo.push(async () => tracing?.stop());
  const database = connectTo(stage.server.url, config);
  stage.undo.push(() => database.close());
  const adminKey = await firstKey(config, options, database);
  await warnOfSeals(config, options, database);
  const { metrics, engine, api } = createParts(config, options, { stage, database, tracing });
  const traffic = createTraffic();
  const unreachable = oneAtATime(() => missingDatabase(database));
  let draining = false;
  const app = await createApp({
    api,
    log,
    metrics,
    traffic,
    tracing,
    rateLimit: config.rateLimit,
    addressRateLimit: config.addressRateLimit,
    counting: options.counting ?? (() => true),
    publicUrl: config.publicUrl ?? "",
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    oidc: config.oidc,
    consoleFolder: options.consoleFolder ?? CONSOLE_FOLDER,
    openapi: openapi(),
    draining: () => draining,
    notReady: () => (draining ? Promise.resolve("draining") : unreachable()),
  });
  stage.undo.push(startUpkeep(database, log));
  stage.undo.push(() => api.stop());
  engine.start();
  stage.undo.push(() => engine.stop());
  stage.undo.push(() => app.close());
  const url = await listen(app, config);
  log.info({ url }, "listening");
  return {
    url,
    database,
    engine,
    adminKey,
    async stop() {
      if (draining) return;
      draining = true;
      log.info({}, "draining");
      api.feed.drain();
      void engine.endWaits();
      const left = await traffic.idle(DRAIN_MS);
      if (left > 0) log.warn({ left }, "requests were still running when the drain ended");
      if (left > 0) app.server.closeAllConnections();
      await stage.unwind();
      log.info({}, "stopped");
    },
  };
}

function connectTo(url: string, { databaseConnections }: Config): Database {
  return openDatabase(url, {
    connections: Math.ceil(databaseConnections / 2),
    writers: Math.floor(databaseConnections / 2),
    applicationName: "berth",
  });
}

/** Whoever watches hears of a write once it is committed. */
function announcing(
  observer: EngineObserver,
  announce: (facts: BatchFacts) => void,
): EngineObserver {
  return {
    ...observer,
    batch(facts) {
      observer.batch?.(facts);
      announce(facts);
    },
  };
}

const NO_SPANS = { sent: 0, failed: 0, dropped: 0 };

/** Loaded only where a collector is named: nobody else pays for it. */
async function startTracing({ tracing }: Config, log: Logger): Promise<Tracing | null> {
  if (tracing === null) return null;
  const { createTracing } = await import("./tracing/tracing.ts");
  return createTracing({ settings: tracing, version: version(), log });
}

async function listen(app: FastifyInstance, config: Config): Promise<string> {
  await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw addressProblem(error, config);
  });
  const address = app.server.address();
  const port = typeof address === "object" && address ? address.port : config.port;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return `http://${host}:${port}`;
}

const embedded = (config: Config, { ephemeral = false }: ServeOptions) =>
  ephemeral || config.databaseUrl === null;

/** An embedded server is its own platform; on a shared database the operator has to be named. */
function platformOf(config: Config, options: ServeOptions): string | null {
  return config.platformOrg ?? (embedded(config, options) ? DEFAULT_PLATFORM : null);
}

/**
 * Makes the platform's tenant and, while no key exists, the first one: from the environment, or on an
 * embedded server a fresh one that is shown once and kept in the data folder.
 */
async function firstKey(
  config: Config,
  options: ServeOptions,
  database: Database,
): Promise<string | null> {
  const say = options.say ?? (() => undefined);
  const platform = platformOf(config, options);
  if (platform !== null) await ensureTenant(database, platform);
  const home = platform ?? DEFAULT_PLATFORM;
  if (config.bootstrapToken !== null) {
    const made = await bootstrapKey(database, config.bootstrapToken, home);
    if (made) say("The first fleet-admin key is BERTH_BOOTSTRAP_TOKEN.");
    return made ? config.bootstrapToken : null;
  }
  if (!embedded(config, options)) {
    if (!(await anyKey(database))) warnOfNoKey(options);
    return null;
  }
  const folder = dataFolder(config.dataDir);
  if (await anyKey(database)) return options.ephemeral ? null : folder.readAdminKey();
  const token = newBootstrapToken(randomBytes, Date.now());
  // Kept before it is made: a crash in between leaves a file of no use, never a key that nobody knows.
  const kept = options.ephemeral ? null : folder.keepAdminKey(token);
  if (!(await bootstrapKey(database, token, home))) return null;
  say(`Fleet-admin key, shown this once: ${token}`);
  if (kept !== null) say(`It is kept in ${kept}`);
  return token;
}

/** The start goes on: bookings need none of these tokens, and a key that was lost does not come back. */
async function warnOfSeals(
  { sealKey }: Config,
  { log, say }: ServeOptions,
  database: Database,
): Promise<void> {
  const poolIds = await unopenedTokens(database, sealKey);
  if (poolIds.length === 0) return;
  const why = sealKey === null ? "without BERTH_SEAL_KEY" : "with this BERTH_SEAL_KEY";
  const which = `the stored cluster tokens of these pools cannot be opened: ${poolIds.slice(0, 10).join(", ")}`;
  const more = poolIds.length > 10 ? ` and ${poolIds.length - 10} more` : "";
  say?.(`WARNING: ${why} ${which}${more}`);
  say?.("  Start with the key that they were sealed with, or set each pool's token anew.");
  log.warn({ pools: poolIds.length, poolIds: poolIds.slice(0, 10) }, "cluster tokens do not open");
}

/** Another server may be about to make the key, so the start goes on. */
function warnOfNoKey({ log, say = () => undefined }: ServeOptions): void {
  say("WARNING: there is no key in this database, so nobody can call this server.");
  say(
    "  Make the first one: set BERTH_BOOTSTRAP_TOKEN to a secret (`openssl rand -hex 32` makes one)\n" +
      "  and start again; that secret is then the first fleet-admin key.",
  );
  log.warn({}, "no key in the database and no BERTH_BOOTSTRAP_TOKEN: nobody can call this server");
}

/** Null when the database answers in time. */
async function missingDatabase(database: Database): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve("database"), READY_TIMEOUT_MS);
  const asked = database.sql`select 1`.then(
    () => null,
    () => "database",
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whoever asks while an answer is on its way shares it: anybody may ask, and each answer costs a query. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () =>
    (running ??= ask().finally(() => {
      running = null;
    }));
}
