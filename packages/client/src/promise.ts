/** What every call answers: a promise of its data, which also says how the data came, and lists that go on by themselves. */
import { asBerthError, own } from "./errors.ts";
import type { BerthError } from "./errors.ts";

/** The answer of a call, under way. */
export interface BerthPromise<T> extends Promise<T> {
  /** The data with what came beside it. */
  withResponse(): Promise<WithResponse<T>>;
  /** Never rejects: an error is a value. */
  safe(): Promise<Result<T>>;
}

/** Data, and the HTTP answer that it came in. */
export interface WithResponse<T> {
  /** What the call answers. */
  readonly data: T;
  /** Quote it when you ask for help; null when the server gave none. */
  readonly requestId: string | null;
  /** The HTTP status. */
  readonly status: number;
  /** The HTTP headers, such as `x-berth-seq` and `ratelimit`. */
  readonly headers: Headers;
  /** Whether other reads shared the request: then id, status and headers are of all of them. */
  readonly isShared: boolean;
}

/** What a call came to. Look at `ok` and the rest is typed. */
export type Result<T> = Success<T> | Failed;

/** The call did what was asked. */
export interface Success<T> {
  readonly ok: true;
  /** What the call answers. */
  readonly data: T;
  readonly error: null;
}

/** The call failed. */
export interface Failed {
  readonly ok: false;
  readonly data: null;
  /** Why; what is not the server's doing has the code `ABORTED`. */
  readonly error: BerthError;
}

/** A list, under way: await it for the first page, loop over it for every entry. */
export interface BerthList<P, T> extends BerthPromise<P>, AsyncIterable<T> {
  /** Page by page, the first included. A page is asked for when it is wanted; leave the loop and no more are. */
  pages(): AsyncIterable<P>;
  /** The entries as an array, at most `limit` of them: how many there are is nobody's promise. */
  toArray(options: { readonly limit: number }): Promise<T[]>;
}

export function berthPromise<T>(delivered: Promise<WithResponse<T>>): BerthPromise<T> {
  const promise = delivered.then(({ data }) => data);
  // Whoever takes one of these has taken the failure too: the bare promise must not report it once more.
  const taken = (): void => void promise.catch(() => undefined);
  return Object.assign(promise, {
    withResponse(): Promise<WithResponse<T>> {
      taken();
      return delivered.then((whole) => whole);
    },
    safe(): Promise<Result<T>> {
      taken();
      return delivered.then(succeeded, failed);
    },
  });
}

function succeeded<T>({ data }: WithResponse<T>): Success<T> {
  return { ok: true, data, error: null };
}

function failed(thrown: unknown): Failed {
  return { ok: false, data: null, error: asBerthError(thrown) };
}

/** How a list's pages are read, and the next one asked for. */
export interface Paging<P, T> {
  entries(page: P): readonly T[];
  /** Null on the last page. */
  cursor(page: P): string | null;
  next(cursor: string): Promise<P>;
}

function isLimit(limit: unknown): limit is number {
  return limit === Infinity || (Number.isInteger(limit) && Number(limit) >= 1);
}

/** @param first the first page, under way */
export function berthList<P, T>(first: BerthPromise<P>, paging: Paging<P, T>): BerthList<P, T> {
  const pages = async function* (): AsyncGenerator<P, void, undefined> {
    let page = await first;
    let last: string | null = null;
    for (;;) {
      yield page;
      const cursor = paging.cursor(page);
      if (cursor === null) return;
      if (cursor === last) throw own("BAD_ANSWER", "the server answered the same page twice", {});
      last = cursor;
      page = await paging.next(cursor);
    }
  };
  const entries = async function* (): AsyncGenerator<T, void, undefined> {
    for await (const page of pages()) yield* paging.entries(page);
  };
  return Object.assign(first, {
    pages,
    [Symbol.asyncIterator]: entries,
    async toArray(options: { readonly limit: number }): Promise<T[]> {
      const all: T[] = [];
      // The page that is under way is this promise's to wait for, also when nothing is made of it.
      first.catch(() => undefined);
      const limit: unknown = (options as { readonly limit?: unknown } | undefined)?.limit;
      if (!isLimit(limit))
        throw new TypeError(
          `toArray needs a limit of at least 1, a whole number or Infinity, as in toArray({ limit: 100 }): not ${String(limit)}`,
        );
      for await (const entry of entries()) if (all.push(entry) >= limit) break;
      return all;
    },
  });
}
