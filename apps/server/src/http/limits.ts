/**
 * Who calls, and how often they may: runs before a body is read. A principal and an address each have a
 * budget of calls a minute, each call of a batch counts. An address that keeps presenting bad keys is not
 * listened to for the rest of the minute, but for tokens that were good here before; the database is not
 * asked about the others. The counts are this process's own: of N servers, N times as much.
 */
import { type Api, ApiError, type Principal } from "@berth/api";
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission } from "./admission.ts";
import { MIB } from "./calls.ts";

const WINDOW_SECONDS = 60;
/** Bad keys a minute from one address: many people mistyping, nobody guessing. */
const BAD_KEYS = 300;
/** Principals, and addresses, that are counted at once; the one seen longest ago is forgotten first. */
const COUNTED_MAX = 50_000;

export interface Gatekeeper {
  /**
   * Sets the request's context and principal.
   * @throws ApiError UNAUTHENTICATED, RATE_LIMITED or UNAVAILABLE
   */
  admit(request: FastifyRequest, reply: FastifyReply, calls: number): Promise<void>;
  /**
   * Counts what is answered without a key as a call of its address.
   * @throws ApiError RATE_LIMITED or UNAVAILABLE
   */
  count(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

interface GatekeeperOptions {
  readonly api: Api;
  /** Calls a minute for a principal. */
  readonly rateLimit: number;
  /** Calls a minute for an address; an IPv6 caller's is its /64. */
  readonly addressRateLimit: number;
  readonly admission: Admission;
  /** While false no call counts: the server is laid out by its own process, and nobody else knows of it. */
  counting(): boolean;
}

/** What a request shows of its caller, before anybody was asked. */
interface Shown {
  readonly token: string | null;
  /** Whose the token was when it was last good here. */
  readonly known: string | null;
}

interface Budget {
  readonly left: number;
  /** Until the window starts over. */
  readonly resetSeconds: number;
}

/** What is counted a minute: bad keys of an address, its calls, and those of a principal. */
async function createCounters(
  app: FastifyInstance,
  limits: Pick<GatekeeperOptions, "rateLimit" | "addressRateLimit">,
): Promise<Readonly<Record<"strangers" | "addresses" | "principals", Counter>>> {
  await app.register(rateLimit, { global: false });
  const budget = (max: number) => ({
    max,
    timeWindow: WINDOW_SECONDS * 1_000,
    cache: COUNTED_MAX,
  });
  return {
    strangers: app.createRateLimit(budget(Math.min(BAD_KEYS, limits.rateLimit))),
    addresses: app.createRateLimit(budget(limits.addressRateLimit)),
    principals: app.createRateLimit({
      ...budget(limits.rateLimit),
      keyGenerator: (request) => request.principal?.id ?? "",
    }),
  };
}

export async function createGatekeeper(
  app: FastifyInstance,
  options: GatekeeperOptions,
): Promise<Gatekeeper> {
  const { strangers, addresses, principals } = await createCounters(app, options);
  const show = {
    principal: shower("principal", options.rateLimit),
    address: shower("address", options.addressRateLimit),
  };

  const looking = createLooking();

  async function authenticated(
    request: FastifyRequest,
    reply: FastifyReply,
    { token, known }: Shown,
  ): Promise<Principal> {
    const context = options.api.context({ token, requestId: request.id });
    request.context = context;
    const ask = async (): Promise<Principal> => {
      try {
        return await context.authenticate();
      } catch (error) {
        if (error instanceof ApiError && error.code === "UNAUTHENTICATED") await strangers(request);
        throw error;
      }
    };
    if (known !== null) return ask();
    const count = await strangers(request, { increment: false });
    const failures = budgetOf(count);
    if (failures.left <= 0) throw tooMany(reply, failures);
    if (token === null) return ask();
    const found = looking.once({ address: count.key, token }, failures.left, ask);
    if (found === null) throw tooMany(reply, { left: 0, resetSeconds: 1 });
    return found;
  }

  async function countAddress(
    request: FastifyRequest,
    reply: FastifyReply,
    calls: number,
  ): Promise<void> {
    if (!options.counting()) return;
    // A caller that is gone already has no address to count, and nobody reads the answer.
    if (request.ip === undefined) throw new ApiError("UNAVAILABLE");
    const address = await spend(addresses, request, calls);
    if (!address.exceeded) return;
    show.address(reply, address);
    throw tooMany(reply, address);
  }

  return {
    count: (request, reply) => countAddress(request, reply, 1),
    async admit(request, reply, calls) {
      const token = bearer(request);
      const known = token === null ? null : options.api.familiar(token);
      options.admission.enter(request, reply, known);
      await countAddress(request, reply, calls);
      request.principal = await authenticated(request, reply, { token, known });
      mindLargeBody(request, request.principal);
      if (options.counting()) {
        const principal = await spend(principals, request, calls);
        show.principal(reply, principal);
        if (principal.exceeded) throw tooMany(reply, principal);
      }
      if (known === null) options.admission.recognize(request, reply, request.principal.tenantId);
    },
  };
}

interface Looking {
  /**
   * The answer about that token: another call's, if one is being asked for now. Null when as many others of
   * the address are being looked at as it may still get wrong.
   */
  once(
    asked: { readonly address: string; readonly token: string },
    left: number,
    ask: () => Promise<Principal>,
  ): Promise<Principal> | null;
}

/** New tokens that are looked at right now: of guesses made at once none has failed yet when the next one comes. */
function createLooking(): Looking {
  const addresses = new Map<string, Map<string, Promise<Principal>>>();
  return {
    once({ address, token }, left, ask) {
      const tokens = addresses.get(address) ?? new Map<string, Promise<Principal>>();
      const same = tokens.get(token);
      if (same) return same;
      if (tokens.size >= left) return null;
      const found = ask().finally(() => {
        tokens.delete(token);
        if (tokens.size === 0) addresses.delete(address);
      });
      tokens.set(token, found);
      addresses.set(address, tokens);
      return found;
    },
  };
}

/** Counts each call; what is left is that after the last one. */
async function spend(
  counter: Counter,
  request: FastifyRequest,
  calls: number,
): Promise<Budget & { readonly exceeded: boolean }> {
  let budget: Budget = { left: 0, resetSeconds: WINDOW_SECONDS };
  let exceeded = false;
  for (let call = 0; call < calls; call += 1) {
    const count = await counter(request);
    budget = budgetOf(count);
    exceeded ||= !count.isAllowed && count.isExceeded;
  }
  return { ...budget, exceeded };
}

/** A large body is read only from who may report nodes with it; a length that is not said counts as large. */
function mindLargeBody(request: FastifyRequest, { role, scope }: Principal): void {
  const announced = Number(request.headers["content-length"] ?? Infinity);
  if (announced <= MIB || (request.routeOptions.bodyLimit ?? 0) <= MIB) return;
  const reports = role === "tenant-admin" || role === "fleet-admin";
  if (reports && (scope?.actions?.includes("compute:nodes:manage") ?? true)) return;
  throw new ApiError("TOO_LARGE");
}

type Counter = ReturnType<FastifyInstance["createRateLimit"]>;
type Count = Awaited<ReturnType<Counter>>;

function budgetOf(count: Count): Budget {
  if (count.isAllowed) return { left: Number.MAX_SAFE_INTEGER, resetSeconds: 0 };
  return { left: count.remaining, resetSeconds: Math.max(1, count.ttlInSeconds) };
}

/** What a budget is and what is left of it, as draft-ietf-httpapi-ratelimit-headers writes it. */
function shower(name: string, quota: number): (reply: FastifyReply, budget: Budget) => void {
  const policy = `"${name}";q=${quota};w=${WINDOW_SECONDS}`;
  return (reply, { left, resetSeconds }) => {
    void reply.header("ratelimit-policy", policy);
    void reply.header("ratelimit", `"${name}";r=${left};t=${resetSeconds}`);
  };
}

function tooMany(reply: FastifyReply, budget: Budget): ApiError {
  void reply.header("retry-after", String(budget.resetSeconds));
  return new ApiError("RATE_LIMITED");
}

/** The token of `Authorization: Bearer …`; the scheme's name is taken in any case. */
function bearer(request: FastifyRequest): string | null {
  return /^bearer +(\S{1,8192})$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}
