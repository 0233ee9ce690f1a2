/**
 * One server from nothing to listening: database, migrations, first key, engine, HTTP; and back again in
 * the opposite order, so that what runs may finish and nothing is left behind.
 */
import { randomBytes } from "node:crypto";
import {
  DEFAULT_PLATFORM,
  anyKey,
  bootstrapKey,
  createAccess,
  createApi,
  ensureTenant,
  newBootstrapToken,
} from "@berth/api";
import { type Database, createPoolStore, migrate, openDatabase } from "@berth/db";
import { type Engine, type EngineObserver, createEngine } from "@berth/engine";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { addressProblem, tryAddress } from "./address.ts";
import type { Config } from "./config.ts";
import { dataFolder } from "./data-folder.ts";
import { type Server, databaseProblem, ownServer } from "./database.ts";
import { createApp } from "./http/app.ts";
import { feedMetrics } from "./http/feed-metrics.ts";
import { createMetrics, waitersMetric } from "./http/metrics.ts";
import { createTraffic } from "./http/traffic.ts";
import { openapi } from "./openapi.ts";
import { startUpkeep } from "./upkeep.ts";

export interface ServeOptions {
  readonly log: Logger;
  /** A database that is gone when the server is. */
  readonly ephemeral?: boolean;
  /** Lines for the person who started it. */
  readonly say?: (line: string) => void;
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
  try {
    await tryAddress(config);
    const own = await ownServer(config, options.ephemeral ?? false);
    server = own;
    undo.push(() => own.stop());
    return await start(config, options, { server: own, undo, unwind });
  } catch (error) {
    await unwind().catch(() => undefined);
    throw server ? databaseProblem(error, server.url) : error;
  }
}

interface Stage {
  readonly server: Server;
  readonly undo: (() => Promise<unknown>)[];
  unwind(): Promise<void>;
}

async function start(config: Config, options: ServeOptions, stage: Stage): Promise<Running> {
  const { log } = options;
  await migrate(stage.server.url);
  const database = openDatabase(stage.server.url, {
    connections: Math.ceil(config.databaseConnections / 2),
    writers: Math.floor(config.databaseConnections / 2),
    applicationName: "berth",
  });
  stage.undo.push(() => database.close());
  const adminKey = await firstKey(config, options, database);
  const metrics = createMetrics();
  let announce = (): void => undefined;
  const engine = createEngine({
    store: createPoolStore(database),
    random: randomBytes,
    log,
    elapsed: () => performance.now(),
    observer: announcing(metrics.observer, () => announce()),
  });
  const api = createApi({
    db: database,
    engine,
    access: createAccess({ db: database, log, policyDirectory: config.policyDir }),
    log,
    random: randomBytes,
    options: { sealKey: config.sealKey, platformOrg: platformOf(config, options) },
  });
  announce = api.feed.announce.bind(api.feed);
  feedMetrics(metrics.registry, () => api.feed.figures());
  waitersMetric(metrics.registry, () => engine.waiting);
  const traffic = createTraffic();
  const unreachable = oneAtATime(() => missingDatabase(database));
  let draining = false;
  const app = await createApp({
    api,
    log,
    metrics,
    traffic,
    rateLimit: config.rateLimit,
    metricsToken: config.metricsToken,
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

/** Whoever watches hears of a write once it is committed. */
function announcing(observer: EngineObserver, announce: () => void): EngineObserver {
  return {
    ...observer,
    batch(facts) {
      observer.batch?.(facts);
      announce();
    },
  };
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
