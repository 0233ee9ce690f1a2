/**
 * Who calls, and how often they may: runs before a body is read. A principal has a budget of calls a
 * minute, each call of a batch counts; an address that keeps presenting bad keys has the same one.
 * The counts are this process's own.
 */
import { type Api, ApiError, type Principal } from "@berth/api";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { MIB } from "./calls.ts";

const WINDOW_SECONDS = 60;

export interface Gatekeeper {
  /**
   * Sets the request's context and principal.
   * @throws ApiError UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE
   */
  admit(request: FastifyRequest, reply: FastifyReply, calls: number): Promise<void>;
}

interface GatekeeperOptions {
  readonly api: Api;
  /** Calls a minute. */
  readonly rateLimit: number;
}

interface Budget {
  readonly left: number;
  /** Until the window starts over. */
  readonly resetSeconds: number;
}

export async function createGatekeeper(
  app: FastifyInstance,
  options: GatekeeperOptions,
): Promise<Gatekeeper> {
  await app.register(rateLimit, { global: false });
  const window = { max: options.rateLimit, timeWindow: WINDOW_SECONDS * 1_000 };
  const strangers = app.createRateLimit(window);
  const principals = app.createRateLimit({
    ...window,
    keyGenerator: (request) => request.principal?.id ?? "",
  });
  const policy = `"principal";q=${options.rateLimit};w=${WINDOW_SECONDS}`;

  async function authenticated(request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
    const failures = budgetOf(await strangers(request, { increment: false }));
    if (failures.left <= 0) throw tooMany(reply, failures);
    request.context = options.api.context({ token: bearer(request), requestId: request.id });
    try {
      return await request.context.authenticate();
    } catch (error) {
      if (error instanceof ApiError && error.code === "UNAUTHENTICATED") await strangers(request);
      throw error;
    }
  }

  return {
    async admit(request, reply, calls) {
      request.principal = await authenticated(request, reply);
      mindLargeBody(request, request.principal);
      let budget: Budget = { left: options.rateLimit, resetSeconds: WINDOW_SECONDS };
      let exceeded = false;
      for (let call = 0; call < calls; call += 1) {
        const count = await principals(request);
        budget = budgetOf(count);
        exceeded ||= !count.isAllowed && count.isExceeded;
      }
      void reply.header("ratelimit-policy", policy);
      void reply.header("ratelimit", `"principal";r=${budget.left};t=${budget.resetSeconds}`);
      if (exceeded) throw tooMany(reply, budget);
    },
  };
}

/** A large body is read only from who may report nodes with it; a length that is not said counts as large. */
function mindLargeBody(request: FastifyRequest, { role, scope }: Principal): void {
  const announced = Number(request.headers["content-length"] ?? Infinity);
  if (announced <= MIB || (request.routeOptions.bodyLimit ?? 0) <= MIB) return;
  const reports = role === "tenant-admin" || role === "fleet-admin";
  if (reports && (scope?.actions?.includes("compute:nodes:manage") ?? true)) return;
  throw new ApiError("TOO_LARGE");
}

type Count = Awaited<ReturnType<ReturnType<FastifyInstance["createRateLimit"]>>>;

function budgetOf(count: Count): Budget {
  if (count.isAllowed) return { left: Number.MAX_SAFE_INTEGER, resetSeconds: 0 };
  return { left: count.remaining, resetSeconds: Math.max(1, count.ttlInSeconds) };
}

function tooMany(reply: FastifyReply, budget: Budget): ApiError {
  void reply.header("retry-after", String(budget.resetSeconds));
  return new ApiError("RATE_LIMITED");
}

/** The token of `Authorization: Bearer …`; the scheme's name is taken in any case. */
function bearer(request: FastifyRequest): string | null {
  return /^bearer +(\S{1,4096})$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}
