/** The HTTP process: one Fastify with the two surfaces, what operators ask, and the hooks around them. */
import { randomUUID } from "node:crypto";
import { type Api, ApiError, logFields } from "@berth/api";
import { API_VERSION } from "@berth/contract";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import helmet from "helmet";
import type { Logger } from "pino";
import { createAdmission } from "./admission.ts";
import { refused } from "./calls.ts";
import { calendar } from "./calendar.ts";
import { type LostPage, webConsole } from "./console.ts";
import { eventStream } from "./event-stream.ts";
import { errorPages } from "./error-pages.ts";
import { answerGarbage, refuseExpectation, refuseHeaders } from "./framing.ts";
import { type Gatekeeper, createGatekeeper } from "./limits.ts";
import type { Metrics } from "./metrics.ts";
import { nodeReservations } from "./node-reservations.ts";
import { type OperationsOptions, operations, publicFiles } from "./operations.ts";
import { refuseOtherVerbs } from "./other-verbs.ts";
import { fromThrown, sendProblem } from "./problem.ts";
import { reference } from "./reference.ts";
import { rest } from "./rest.ts";
import type { Traffic } from "./traffic.ts";
import { trpc } from "./trpc.ts";
import type { RequestTrace } from "../tracing/request-trace.ts";
import type { Tracing } from "../tracing/tracing.ts";

export interface AppOptions extends Omit<OperationsOptions, "registry"> {
  readonly api: Api;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly traffic: Traffic;
  /** Calls a minute for a principal. */
  readonly rateLimit: number;
  /** Calls a minute for an address, whoever calls from there. */
  readonly addressRateLimit: number;
  /** While false no call counts against either. */
  counting(): boolean;
  /** Where callers reach this server, without a slash at the end; empty: addresses in answers are relative. */
  readonly publicUrl: string;
  /** Addresses or networks whose X-Forwarded-* headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Where the built web console is. */
  readonly consoleFolder: string;
  /** Null while nobody follows calls. */
  readonly tracing: Pick<Tracing, "request"> | null;
  /** While true every new call is refused as UNAVAILABLE. */
  draining(): boolean;
}

/**
 * Whole request in, and its headers before that; a slow sender holds nothing for longer. Node looks for late
 * ones only now and then, by default every 30 s.
 */
const REQUEST_TIMEOUT_MS = 12_000;
const HEADERS_TIMEOUT_MS = 10_000;
const LATE_CHECK_MS = 1_000;
/** Past it a new connection is closed at once: each costs memory before it says anything. */
const CONNECTIONS_MAX = 10_000;
/** Longer than the usual idle time of a proxy in front, so that it is the one who hangs up. */
const KEEP_ALIVE_MS = 75_000;
/** A year, for this host alone: what else runs under its name is not ours to say. */
const HSTS = "max-age=31536000";
/** What the hooks say on every other answer, for those that come by no hook. */
const HOOKLESS_HEADERS = {
  "content-security-policy": "default-src 'none';base-uri 'none';frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "cache-control": "no-store",
} as const;
/** Fifty of the longest method names. */
const PATH_MAX = 4_096;

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { publicUrl } = options;
  const app = Fastify({
    logger: false,
    genReqId: requestId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { connectionsCheckingInterval: LATE_CHECK_MS, requireHostHeader: false },
    clientErrorHandler: answerGarbage(publicUrl),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: PATH_MAX },
    // A path that cannot be read, or is too long, comes by no hook and no other handler.
    frameworkErrors: (_error, { id }, reply) =>
      sendProblem(reply.headers(HOOKLESS_HEADERS).header("x-request-id", id), noSuchPath()),
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  app.server.maxConnections = CONNECTIONS_MAX;
  app.server.on("checkExpectation", refuseExpectation(publicUrl));
  app.decorate("publicUrl", publicUrl);
  app.decorateRequest("principal", null);
  app.decorateRequest("context", null);
  app.decorateRequest("calls");
  app.decorateRequest("refusal", null);
  app.decorateRequest("trace", null);
  app.decorateRequest("turn", null);
  watch(app, options);
  headers(app, options);
  // Outside of the surfaces nobody reads a body: what is asked there is answered by its address alone.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  const refuseTheRest = refuseOtherVerbs(app);
  const routes = new Set<string>();
  app.addHook("onRoute", ({ url }) => void routes.add(url));
  let lostPage: LostPage = () => null;
  app.setNotFoundHandler(
    (request, reply) => lostPage(request, reply) ?? sendProblem(reply, noSuchPath()),
  );
  app.setErrorHandler((thrown, request, reply) => {
    const error = fromThrown(thrown);
    refused(request, error);
    return sendProblem(reply, error);
  });
  const operating = { ...options, registry: options.metrics.registry };
  operations(app, operating);
  const admission = createAdmission();
  app.addHook("onClose", (_app, done) => {
    admission.stop();
    done();
  });
  const gatekeeper = await createGatekeeper(app, { ...options, admission });
  await app.register(async (scope) => {
    scope.addHook("onRequest", gatekeeper.count);
    publicFiles(scope, operating);
    errorPages(scope);
    reference(scope);
    lostPage = await webConsole(scope, {
      folder: options.consoleFolder,
      issuer: issuerOf(options.oidc),
      routes,
    });
  });
  await surfaces(app, gatekeeper, options);
  refuseTheRest();
  return app;
}

/** What of the issuer the console talks to. */
function issuerOf(oidc: AppOptions["oidc"]): string[] {
  if (oidc === null || oidc.clientId === null) return [];
  return [oidc.settings.issuer, ...(oidc.tokenUri === null ? [] : [oidc.tokenUri])];
}

/** The library itself, made once: Fastify's plugin makes it anew for every request, and parses the directives again. */
const protect = helmet({
  // Over plain HTTP it says nothing, and behind a proxy that speaks HTTPS it is said below.
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
  },
});

/** What stands on every answer. */
function headers(app: FastifyInstance, { draining }: AppOptions): void {
  app.addHook("onRequest", (request, reply, done) =>
    protect(request.raw, reply.raw, (error) => done(error as Error | undefined)),
  );
  app.addHook("onRequest", (request, reply, done) => {
    if (request.protocol === "https") void reply.header("strict-transport-security", HSTS);
    // Answers are of the caller and of the moment; what may be kept says so itself.
    void reply.header("cache-control", "no-store");
    refuseHeaders(request.raw, reply.raw);
    // `OPTIONS *` asks of the server as a whole; the router would read the console's address in it.
    if (request.raw.url === "*") throw noSuchPath();
    done();
  });
  app.addHook("onSend", (request, reply, payload) => {
    request.turn?.end(reply.statusCode);
    // Of a server that ends no connection is kept, or the next call on it would be lost.
    if (draining()) void reply.header("connection", "close");
    return Promise.resolve(payload);
  });
}

const noSuchPath = () => new ApiError("NOT_FOUND", { message: "There is no such path." });

async function surfaces(
  app: FastifyInstance,
  gatekeeper: Gatekeeper,
  options: Pick<AppOptions, "api" | "draining">,
): Promise<void> {
  const admitting: Gatekeeper = {
    ...gatekeeper,
    async admit(request, reply, calls) {
      if (options.draining())
        throw new ApiError("UNAVAILABLE", { message: "The server is shutting down; try again." });
      await gatekeeper.admit(request, reply, calls);
    },
  };
  for (const surface of [rest, nodeReservations, eventStream, calendar, trpc]) {
    await app.register((scope, _options, done) => {
      surface(scope, { api: options.api, gatekeeper: admitting });
      done();
    });
  }
}

/** A request id on every answer, a log line and a measurement for every call. */
function watch(app: FastifyInstance, { log, metrics, traffic, tracing }: AppOptions): void {
  app.addHook("onRequest", (request, reply, done) => {
    request.calls = [];
    if (tracing) request.trace = follow(tracing, request, reply);
    metrics.inFlight.inc();
    traffic.enter();
    void reply.header("x-request-id", request.id).header("berth-api-version", API_VERSION);
    // Fastify's own hook is passed over when the caller leaves in the middle of a stream, and without that hook
    // its `elapsedTime` is 0.
    const began = performance.now();
    reply.raw.once("close", () => over(request, reply, performance.now() - began));
    done();
  });
  const over = (request: FastifyRequest, reply: FastifyReply, elapsed: number): void => {
    metrics.inFlight.dec();
    traffic.leave();
    logRefusal(request, log);
    const ms = Math.round(elapsed * 10) / 10;
    const { id: requestId, trace } = request;
    const traceId = trace?.traceId;
    for (const { method, code } of request.calls) {
      metrics.called(method, code, ms / 1_000);
      const call = { requestId, method, code, status: reply.statusCode, ms, ...callerOf(request) };
      log.info(traceId ? { ...call, traceId } : call, "call");
    }
    trace?.ended(request.calls, {
      route: request.routeOptions.url,
      status: reply.statusCode,
      tenantId: request.principal?.tenantId,
    });
  };
}

function follow(
  tracing: Pick<Tracing, "request">,
  { headers, id, method }: FastifyRequest,
  reply: FastifyReply,
): RequestTrace {
  return tracing.request({
    headers,
    requestId: id,
    verb: method,
    answering: (own) => {
      if (!reply.sent) void reply.header("traceresponse", own);
    },
  });
}

/** What is nobody's mistake but ours, or the database's. */
function logRefusal({ id, refusal }: FastifyRequest, log: Logger): void {
  if (!refusal || (refusal.code !== "INTERNAL" && refusal.cause === undefined)) return;
  log.error({ requestId: id, ...logFields(refusal) }, "a request was refused before its call");
}

function callerOf({ principal }: FastifyRequest): object {
  return principal ? { tenantId: principal.tenantId, principal: principal.name } : {};
}

/** The caller's own id when it is harmless in headers and logs, else a fresh one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}
