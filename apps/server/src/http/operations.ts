/** What is answered without a key: alive, ready, the contract, the console's settings; and the metrics. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "@berth/api";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { OidcConfig } from "../config-oidc.ts";
import { packed } from "./packed.ts";
import { sendProblem } from "./problem.ts";

export interface OperationsOptions {
  /** Null when calls can be answered; else what is missing. */
  notReady(): Promise<string | null>;
  /** The OpenAPI document's text. */
  readonly openapi: string;
  readonly registry: Registry;
  /** Null = /metrics is not served. */
  readonly metricsToken: string | null;
  /** Null = only keys sign in. */
  readonly oidc: OidcConfig | null;
}

/** Counted against nobody: who watches a server must hear of it just when others ask too much of it. */
export function operations(app: FastifyInstance, options: OperationsOptions): void {
  app.get("/healthz", () => ({ alive: true }));

  app.get("/readyz", async (_request, reply) => {
    const missing = await options.notReady();
    if (missing === null) return { ready: true };
    return reply
      .code(503)
      .headers({ "x-should-retry": "true", "retry-after": "1" })
      .send({ ready: false, missing });
  });

  const { metricsToken, registry } = options;
  if (metricsToken === null) return;
  app.get("/metrics", async (request, reply) => {
    if (!sameToken(request.headers.authorization, `Bearer ${metricsToken}`)) {
      return sendProblem(reply, new ApiError("UNAUTHENTICATED"));
    }
    return reply.header("content-type", registry.contentType).send(await registry.metrics());
  });
}

/** The contract, and the console's settings. */
export function publicFiles(scope: FastifyInstance, options: OperationsOptions): void {
  const openapi = packed(() => Promise.resolve(Buffer.from(options.openapi)));
  scope.get("/openapi.json", (request, reply) =>
    openapi(
      request,
      reply.headers({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-cache",
      }),
    ),
  );

  scope.get("/config.json", () => ({ oidc: consoleSignIn(options.oidc) }));
}

/** What the console needs to sign in: nothing of it is secret. Null = with a key alone. */
function consoleSignIn(oidc: OidcConfig | null): object | null {
  if (oidc === null || oidc.clientId === null) return null;
  const { issuer, audience, tokens } = oidc.settings;
  return { issuer, clientId: oidc.clientId, audience, tokens, tokenUri: oidc.tokenUri };
}

/** In constant time, whatever the lengths. */
function sameToken(given: string | undefined, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(expected));
}
