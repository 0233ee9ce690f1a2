/** A client and a server that answers what a test says. */
import { createBerth } from "../src/index.ts";
import type { Berth, BerthOptions } from "../src/index.ts";
import { startWireServer } from "./wire-server.ts";
import type { Arrived, Reply, WireServer } from "./wire-server.ts";

export const tenantId = "acme";
export const poolId = `pool_${"0".repeat(26)}`;
export const reservationId = `rsv_${"0".repeat(26)}`;
export const ask = {
  tenantId,
  poolId,
  devices: [{ class: "gpu" as const, count: 1 }],
  duration: "1h",
};

/** An error as the server words it. */
export function told(code: string, more: object = {}): object {
  return {
    code,
    message: `told ${code}`,
    retryable: false,
    requestId: "req-1",
    issues: null,
    details: null,
    ...more,
  };
}

export const unavailable: Reply = { status: 503, berth: told("UNAVAILABLE", { retryable: true }) };

/** Answers these in turn, then the last one for good. */
export function inTurn(...replies: Reply[]): () => Reply {
  let next = 0;
  return () => replies[Math.min(next++, replies.length - 1)] ?? "cut";
}

/** Runs the body with a client of a server that answers so. */
export async function withServer(
  reply: (call: Arrived) => Reply,
  body: (berth: Berth, server: WireServer) => Promise<void>,
  options: Partial<BerthOptions> = {},
): Promise<void> {
  await using server = await startWireServer(reply);
  await body(createBerth({ url: server.url, token: "t", ...options }), server);
}

/** What the call rejects with; fails when it does not. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const settled = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in settled) throw new Error(`resolved with ${JSON.stringify(settled.value)}`);
  return settled.error;
}
