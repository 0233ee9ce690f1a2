/** What a caller may say of the client and of one call. */

/** How to reach the server, and how patiently. */
export interface BerthOptions {
  /** Where the server is, such as `https://berth.internal`; any other than an absolute http or https address throws. */
  readonly url: string;
  /** An API key, or a function that answers the token to use now: it is asked before every request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent with every request, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A call fails with TIMEOUT after this long, retries included; milliseconds, default 60,000, Infinity for no limit. */
  readonly timeoutMs?: number | undefined;
  /** How often a call that is safe to repeat is tried again at most; default 3, 0 turns retries off. */
  readonly retries?: number | undefined;
}

/** What may be said of a stream. */
export interface WatchOptions {
  /** Ends the stream: the loop then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What may be said of one call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** As `BerthOptions.timeoutMs`, for this call. */
  readonly timeoutMs?: number | undefined;
  /**
   * The idempotency key of a method that takes one, where the input names none. Without either the client makes one
   * for the call and keeps it over its retries.
   */
  readonly idempotencyKey?: string | undefined;
}
