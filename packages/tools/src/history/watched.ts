/** A watcher's stream has to be the log as its tenant may see it: each event once, in order, over any reconnects. */
import type { FeedRow, Report, Stretch, Watching } from "./types.ts";

interface Stream {
  /** Not yet found the event that it begins after. */
  after: string | null;
  expected: string[];
  seen: string[];
  matched: number;
  /** Parted already: told once. */
  parted: boolean;
}

export class Watched {
  readonly #streams: Map<string, Stream>;
  readonly #report: Report;
  /** By tenant and stream: the last place that the feed had. */
  readonly #places = new Map<string, { readonly seq: number; readonly idx: number }>();

  constructor(watching: readonly Watching[], report: Report) {
    this.#report = report;
    this.#streams = new Map(
      watching.map(({ tenantId, after }) => [
        tenantId,
        { after, expected: [], seen: [], matched: 0, parted: false },
      ]),
    );
  }

  take({ feed, seen }: Pick<Stretch, "feed" | "seen">): void {
    for (const row of feed) {
      this.#checkPlace(row);
      const stream = this.#streams.get(row.tenantId);
      if (!stream) continue;
      if (stream.after === null) stream.expected.push(row.eventId);
      else if (stream.after === row.eventId) stream.after = null;
    }
    for (const { tenantId, eventIds } of seen) this.#streams.get(tenantId)?.seen.push(...eventIds);
    for (const [tenantId, stream] of this.#streams) this.#match(tenantId, stream);
  }

  /** Nobody watches any more. The log may go on where the streams ended; what was sent has to be in it. */
  end(): void {
    for (const [tenantId, { seen, matched, parted }] of this.#streams)
      if (!parted && seen.length > 0)
        this.#report(
          "WATCH",
          `${tenantId}, after ${matched} events: ${seen.length} are not in the log`,
        );
  }

  get matched(): number {
    return [...this.#streams.values()].reduce((sum, { matched }) => sum + matched, 0);
  }

  /** The feed may put transactions of different pools in any order, those of one pool only in its own. */
  #checkPlace({ tenantId, stream, seq, idx }: FeedRow): void {
    const name = `${tenantId} ${stream}`;
    const last = this.#places.get(name);
    if (last && (seq < last.seq || (seq === last.seq && idx <= last.idx)))
      this.#report(
        "WATCH",
        `the feed of ${tenantId} has ${stream} ${seq}.${idx} after ${last.seq}.${last.idx}`,
      );
    this.#places.set(name, { seq, idx });
  }

  #match(tenantId: string, stream: Stream): void {
    const both = Math.min(stream.expected.length, stream.seen.length);
    let same = 0;
    while (same < both && stream.expected[same] === stream.seen[same]) same += 1;
    stream.matched += same;
    if (same < both && !stream.parted) {
      stream.parted = true;
      const [want, got] = [stream.expected[same], stream.seen[same]];
      this.#report(
        "WATCH",
        `${tenantId}, after ${stream.matched} events: ${got} was sent, and ${want} comes next`,
      );
    }
    stream.expected.splice(0, stream.parted ? both : same);
    stream.seen.splice(0, stream.parted ? both : same);
  }
}
