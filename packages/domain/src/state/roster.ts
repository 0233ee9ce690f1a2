/** The pool's nodes as a walk reads them: in flat arrays, by id. */
import { BusyTimes } from "./busy-times.ts";
import { Makes } from "./make.ts";
import type { NodeEntry, SeenNode } from "./node-entry.ts";

/** How a node is judged: by its make and bookings alone, with its maintenance besides, or for itself. */
export const ALIKE = 0;
export const SERVICED = 1;
export const APART = 2;

/** Of so many label keys the values are kept. */
const KEYS_MAX = 8;

export class Roster {
  /** A row for each 32 rows of `busy`, a bit each: whether any unit is booked. */
  readonly anyBusy: BusyTimes = new BusyTimes();
  readonly busy: BusyTimes = new BusyTimes(this.anyBusy);
  readonly makes: Makes = new Makes();
  /** By row: the number of the node's make, and how it is judged. */
  #makeOf = new Int32Array(16);
  #judged = new Uint8Array(16);
  #rows: Int32Array | null = null;
  /** By label key: what `valuesOf` says, until a node changes. */
  readonly #values = new Map<string, Int32Array>();

  get makeOf(): Int32Array {
    return this.#makeOf;
  }

  get judged(): Uint8Array {
    return this.#judged;
  }

  /** The rows of the entries, in their order; -1 for a node that has more units than a row has bits. */
  rowsOf(entries: readonly SeenNode[]): Int32Array {
    return (this.#rows ??= Int32Array.from(entries, ({ calendar }) => calendar.row));
  }

  /**
   * By entry, a number for its value of the label, the same for the same value and counted from 0; -1 where it
   * has none.
   */
  valuesOf(key: string, entries: readonly SeenNode[]): Int32Array {
    const known = this.#values.get(key);
    if (known) return known;
    const numbers = new Map<string, number>();
    const values = Int32Array.from(entries, ({ node: { labels } }) => {
      if (!Object.hasOwn(labels, key)) return -1;
      const value = labels[key] as string;
      const number = numbers.get(value) ?? numbers.size;
      numbers.set(value, number);
      return number;
    });
    if (this.#values.size >= KEYS_MAX) this.#values.clear();
    this.#values.set(key, values);
    return values;
  }

  /** After the entry was made or its terms have changed. */
  set({ calendar: { row }, make, node, terms }: NodeEntry): void {
    this.#values.clear();
    if (row < 0) return;
    if (row >= this.#makeOf.length) {
      const size = 2 * Math.max(row, this.#makeOf.length);
      const [makes, judged] = [this.#makeOf, this.#judged];
      this.#makeOf = new Int32Array(size);
      this.#makeOf.set(makes);
      this.#judged = new Uint8Array(size);
      this.#judged.set(judged);
    }
    this.#makeOf[row] = make.number;
    this.#judged[row] = terms !== null ? APART : node.maintenance.length > 0 ? SERVICED : ALIKE;
  }

  /** After an entry has come or gone, or has another row. */
  reorder(): void {
    this.#values.clear();
    this.#rows = null;
  }
}
