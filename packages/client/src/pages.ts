/** Walks a list that comes in pages. */
import type { CallOptions } from "./options.ts";

/**
 * Every entry of every page, in order. A page is asked for when its first entry is wanted; leaving the loop asks for
 * no more. The time limit counts a page at a time.
 */
export async function* everyEntry<I extends { cursor?: string | undefined }, P, T>(
  page: (input: I, options?: CallOptions) => Promise<P>,
  input: I,
  read: {
    readonly options: CallOptions | undefined;
    readonly entries: (page: P) => readonly T[];
    readonly next: (page: P) => string | null;
  },
): AsyncGenerator<T, void, undefined> {
  let asked = input;
  for (;;) {
    const answer = await page(asked, read.options);
    yield* read.entries(answer);
    const cursor = read.next(answer);
    if (cursor === null) return;
    if (cursor === asked.cursor) throw new Error("the server answered the same page twice");
    asked = { ...asked, cursor };
  }
}
