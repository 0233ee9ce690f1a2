/** An API on a database of the test file's own, called without a transport. */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type ErrorCode, type WireError, errorDetails, wireError } from "@berth/contract";
import { createPoolStore, openDatabase } from "@berth/db";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { createEngine } from "@berth/engine";
import type { z } from "zod";
import { createAccess } from "../access/access.ts";
import { DEFAULT_PLATFORM, bootstrapKey, newBootstrapToken } from "../access/bootstrap.ts";
import type { Log, Method } from "../call.ts";
import { toApiError, toWire } from "../errors.ts";
import { type Api, type GivenDeps, type Parts, createApi } from "../root.ts";
import type { Code } from "./authorization-matrix.ts";
import type { Invoke } from "./world.ts";

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

export interface TestApi {
  readonly api: Api;
  readonly deps: GivenDeps;
  readonly database: TestDatabase;
  /** The bootstrap key: fleet-admin. */
  readonly admin: string;
  readonly invoke: Invoke;
  /** The code of the answer, and the whole error without its request id. */
  outcome(
    method: Method,
    input: unknown,
    token: string | null,
    signal?: AbortSignal,
  ): Promise<Outcome>;
  readonly lines: LogLine[];
  close(): Promise<void>;
}

export interface Outcome {
  readonly code: Code;
  readonly error: Omit<ReturnType<typeof toWire>, "requestId"> | null;
  readonly output: unknown;
}

export async function testApi(
  options: {
    policyDirectory?: string;
    parts?: Parts;
    sealKey?: Uint8Array;
    platformOrg?: string | null;
    /** Connections that read. */
    connections?: number;
  } = {},
): Promise<TestApi> {
  const database = await testDatabase();
  const db = openDatabase(database.url, {
    applicationName: "test-api",
    ...(options.connections === undefined ? {} : { connections: options.connections }),
  });
  const lines: LogLine[] = [];
  const log = logInto(lines);
  const engine = createEngine({
    store: createPoolStore(db),
    random: randomBytes,
    log,
    elapsed: () => performance.now(),
  });
  const policyDirectory = options.policyDirectory ?? null;
  const deps: GivenDeps = {
    db,
    engine,
    access: createAccess({ db, log, policyDirectory }),
    log,
    random: randomBytes,
    options: {
      sealKey: options.sealKey ?? null,
      platformOrg: options.platformOrg === undefined ? DEFAULT_PLATFORM : options.platformOrg,
    },
  };
  const api = createApi(deps, options.parts);
  const admin = newBootstrapToken(randomBytes, Date.now());
  await bootstrapKey(db, admin);
  const run = (method: Method, input: unknown, token: string | null, signal?: AbortSignal) =>
    api.invoke({
      method,
      rawInput: () => Promise.resolve(input),
      context: api.context({ token, requestId: "req-test" }),
      signal,
    });
  return {
    api,
    deps,
    database,
    admin,
    lines,
    invoke: async (method, input, token) =>
      (await run(method, input, token)) as Record<string, unknown>,
    async outcome(method, input, token, signal) {
      try {
        return { code: "OK", error: null, output: await run(method, input, token, signal) };
      } catch (thrown) {
        const { requestId: _, ...error } = checked(toWire(toApiError(thrown), "req-test"));
        return { code: error.code, error, output: null };
      }
    },
    async close() {
      await engine.stop();
      await api.stop();
      await db.close();
      await database.close();
    },
  };
}

/** Every error that a test meets is one of the contract's, its details those of its code. */
function checked(error: WireError): WireError {
  wireError.parse(error);
  const details: Partial<Record<ErrorCode, z.ZodType>> = errorDetails;
  const parsed = details[error.code]?.parse(error.details) ?? null;
  if (!isDeepStrictEqual(parsed, error.details))
    throw new Error(`details of ${error.code}: ${JSON.stringify(error.details)}`);
  return error;
}

export function logInto(lines: LogLine[]): Log {
  const at = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}
