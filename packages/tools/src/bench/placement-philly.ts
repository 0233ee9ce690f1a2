/**
 * Part B on whole GPUs: every request is booked where the domain's `earliestStart` and `place` say, in a pool
 * whose state they read. What is scored is a replay of the decisions on cards of its own.
 */
import { earliestStart, place, PoolState } from "@berth/domain";
import type { Change, Node, PlaceRequest, Reservation } from "@berth/domain";
import { NOW, reservationOf, syntheticPool } from "./placer-pool.ts";
import type { CalendarRequest } from "./placement-trace.ts";

const NODE_GPUS = 8;
const NO_SCALARS = { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 };

/** When a request starts, s, and on which cards of which nodes; null: refused. */
export type Decision = {
  readonly start: number;
  readonly cards: readonly (readonly [node: number, card: number])[];
} | null;

/** @param times gets the milliseconds of each decision */
export function bookAll(
  requests: readonly CalendarRequest[],
  nodes: number,
  times: number[],
): Decision[] {
  const pool = new Pool(nodes);
  return requests.map((request, n) => {
    pool.endUntil(request.submit);
    const before = performance.now();
    const decision = pool.book(request, n);
    times.push(performance.now() - before);
    return decision;
  });
}

class Pool {
  readonly #state: PoolState;
  readonly #nodes: readonly Node[];
  readonly #cards: ReadonlyMap<string, readonly [number, number]>;
  #live: Reservation[] = [];
  #firstEnd = Number.POSITIVE_INFINITY;

  constructor(nodes: number) {
    const snapshot = syntheticPool({ nodes, full: 0, future: 0 });
    this.#state = PoolState.load(snapshot);
    this.#nodes = snapshot.nodes;
    const cards = this.#nodes.flatMap(({ units }, node) =>
      units.map(({ id }, card) => [id, [node, card]] as const),
    );
    this.#cards = new Map<string, readonly [number, number]>(cards);
  }

  endUntil(time: number): void {
    const now = NOW + time * 1_000;
    if (this.#firstEnd > now) return;
    this.#firstEnd = Number.POSITIVE_INFINITY;
    this.#live = this.#live.filter((before) => {
      if (before.end > now) this.#firstEnd = Math.min(this.#firstEnd, before.end);
      else this.#apply({ before, after: { ...before, state: "completed" } });
      return before.end > now;
    });
  }

  book({ submit, lead, window, dur, gpus }: CalendarRequest, n: number): Decision {
    const ready = NOW + (submit + lead) * 1_000;
    const size = Math.ceil(gpus / NODE_GPUS);
    const devices = [{ class: "gpu", count: Math.min(gpus, NODE_GPUS) }] as const;
    const asked: PlaceRequest = {
      ...{ binding: "hold", spot: false, tenantId: "t-0", topology: "any", devices },
      gang: size > 1 ? { size } : null,
      resources: NO_SCALARS,
      start: ready,
      end: ready + dur * 1_000,
    };
    const last = ready + window * 1_000;
    const { at, searchedTo } = earliestStart(this.#state, asked, { horizonEnd: last });
    if (at === null) {
      if (searchedTo < last) throw new Error("refused without having looked everywhere");
      return null;
    }
    const request = { ...asked, start: at, end: at + dur * 1_000 };
    const placed = place(this.#state, request, { candidatesMax: 1 });
    if (!placed.fits) throw new Error("the earliest start does not fit");
    const { members } = placed;
    this.#add(n, request, members);
    const cards = members.flatMap(({ unitIds }) =>
      unitIds.map((id) => this.#cards.get(id) as readonly [number, number]),
    );
    return { start: (at - NOW) / 1_000, cards };
  }

  #add(
    n: number,
    { start, end, devices, gang, resources }: PlaceRequest,
    placed: readonly Pick<Reservation["members"][number], "nodeId" | "unitIds">[],
  ): void {
    const node = this.#nodes[0] as Node;
    const members = placed.map(({ nodeId, unitIds }, index) => {
      return { index, nodeId, unitIds, resources };
    });
    const empty = reservationOf(n, { node, gpus: [] }, { start, end });
    const begins = { state: "scheduled", startedAt: null } as const;
    const after: Reservation = { ...empty, ...begins, devices, gang, members };
    this.#apply({ before: null, after });
    this.#live.push(after);
    this.#firstEnd = Math.min(this.#firstEnd, end);
  }

  #apply(change: Pick<Change & { kind: "reservation" }, "before" | "after">): void {
    this.#state.apply({ kind: "reservation", ...change });
  }
}

/** Throws when a card is booked twice: by the decisions alone, card by card. */
export function checkApart(
  requests: readonly CalendarRequest[],
  decisions: readonly Decision[],
): void {
  const byCard = new Map<string, [start: number, end: number][]>();
  decisions.forEach((decision, n) => {
    for (const card of decision?.cards ?? []) {
      const list = byCard.get(card.join()) ?? [];
      const { start } = decision as { readonly start: number };
      list.push([start, start + (requests[n]?.dur ?? 0)]);
      byCard.set(card.join(), list);
    }
  });
  for (const [card, list] of byCard) {
    list.sort((a, b) => a[0] - b[0]);
    list.reduce((before, next) => {
      if (next[0] < before[1]) throw new Error(`card ${card} is booked twice`);
      return next;
    });
  }
}

/**
 * Percent of the GPU-time asked for that was booked. Throws when a card is booked twice, a start is outside
 * its bounds, or an earlier one had room.
 */
export function replay(
  requests: readonly CalendarRequest[],
  nodes: number,
  decisions: readonly Decision[],
): number {
  const booked: [start: number, end: number][][][] = Array.from({ length: nodes }, () =>
    Array.from({ length: NODE_GPUS }, () => []),
  );
  const isFree = (
    list: readonly (readonly [number, number])[],
    start: number,
    end: number,
  ): boolean => list.every(([from, to]) => to <= start || from >= end);
  const hasRoom = ({ gpus, dur }: CalendarRequest, start: number): boolean => {
    const each = Math.min(gpus, NODE_GPUS);
    const able = booked.filter((cards) => {
      return cards.filter((list) => isFree(list, start, start + dur)).length >= each;
    });
    return able.length >= Math.ceil(gpus / NODE_GPUS);
  };
  let [asked, given] = [0, 0];
  requests.forEach((request, n) => {
    const { submit, lead, window, dur, gpus } = request;
    for (const cards of booked)
      cards.forEach((list, card) => (cards[card] = list.filter(([, to]) => to > submit)));
    const ready = submit + lead;
    const decision = decisions[n] ?? null;
    const ends = booked.flat(2).map(([, to]) => to);
    const earlier = new Set([ready, ...ends.filter((to) => to > ready && to <= ready + window)]);
    for (const start of earlier)
      if ((!decision || start < decision.start) && hasRoom(request, start))
        throw new Error(`request ${n} has room at ${start}`);
    asked += gpus * dur;
    if (!decision) return;
    const { start, cards } = decision;
    const spread = new Set(cards.map(([node]) => node)).size;
    const whole = cards.length === gpus && spread === Math.ceil(gpus / NODE_GPUS);
    if (start < ready || start > ready + window || !whole)
      throw new Error(`request ${n} is not booked as it asked`);
    for (const [node, card] of cards) {
      const list = booked[node]?.[card] ?? [];
      if (!isFree(list, start, start + dur)) throw new Error(`card ${card} is booked twice`);
      list.push([start, start + dur]);
    }
    given += gpus * dur;
  });
  return (100 * given) / asked;
}
