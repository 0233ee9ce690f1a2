/** What a caller may say of the client and of one call. */
import type { Hooks } from "./hooks.ts";

/** How to reach the server, and how patiently. */
export interface BerthOptions {
  /**
   * Where the server is, such as `https://berth.internal`; absent: the environment's `BERTH_URL`. Any other than an
   * absolute http or https address throws, and so does that of `/trpc` or `/api/compute` on it.
   */
  readonly url?: string | undefined;
  /**
   * An API key, or a function that answers the token to use now: it is asked before every request. Absent: the
   * environment's `BERTH_TOKEN`, whichever server `url` says: where that is not the environment's, give the token too.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent with every request, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A call fails with TIMEOUT after this long, retries included; milliseconds, default 60,000, Infinity for no limit. */
  readonly timeoutMs?: number | undefined;
  /** How often a call that is safe to repeat is tried again at most; default 3, 0 turns retries off. */
  readonly maxRetries?: number | undefined;
  /** Names your program to the server, beside the client's own name. */
  readonly appInfo?: AppInfo | undefined;
  /** Told of every request, answer and retry. */
  readonly hooks?: Hooks | readonly Hooks[] | undefined;
  /** Told once of what should be put right; default: `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A program that uses the client. */
export interface AppInfo {
  /** Its name: letters, digits and `. _ -`. */
  readonly name: string;
  /** Its version, in the same characters. */
  readonly version?: string | undefined;
}

/** What may be said of a stream. */
export interface WatchOptions {
  /** Ends the stream: the loop then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The `cursor` of the last event that you have, to go on after it; the input's own counts before it. */
  readonly lastEventId?: string | undefined;
}

/** What may be said of one call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** As `BerthOptions.timeoutMs`, for this call; of a list, for each page. */
  readonly timeoutMs?: number | undefined;
  /** As `BerthOptions.maxRetries`, for this call. */
  readonly maxRetries?: number | undefined;
  /**
   * The idempotency key of a method that takes one, where the input names none. Without either the client makes one
   * for the call and keeps it over its retries.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What may be said of a call to a method that the client does not know. */
export interface RawCallOptions extends CallOptions {
  /** `read`: it changes nothing, so it may share a request and be repeated. Default: `mutation`. */
  readonly kind?: "read" | "mutation" | undefined;
}

const NAMED = /^[A-Za-z0-9._-]{1,64}$/;

/** What was given, and for what was not what the environment says. @throws TypeError for what are no options */
export function completed(options: BerthOptions): BerthOptions {
  if (typeof (options as unknown) !== "object" || options === null)
    throw new TypeError(
      `createBerth needs options such as { url, token }, or none, not ${options === null ? "null" : `a ${typeof options}`}`,
    );
  const { appInfo } = options;
  for (const text of [appInfo?.name, appInfo?.version])
    if (text !== undefined && !NAMED.test(text))
      throw new TypeError(
        `createBerth needs name and version of appInfo in letters, digits and . _ -, not ${JSON.stringify(text)}`,
      );
  return {
    ...options,
    url: options.url ?? environment("BERTH_URL"),
    token: options.token ?? environment("BERTH_TOKEN"),
  };
}

/** Undefined where there is no environment, or none that we may read. */
function environment(name: string): string | undefined {
  const { process } = globalThis as {
    process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  };
  try {
    return process?.env?.[name];
  } catch {
    // Deno asks for a permission.
    return undefined;
  }
}
