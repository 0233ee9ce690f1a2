/**
 * Judges nodes for one request: once for all nodes of one make of which the same units are booked, by what
 * `fit.ts` finds on the first of them. What is a node's own (labels, maintenance, units withheld or named)
 * is looked at for each; a node's use of scalars is the caller's.
 */
import type { Scalar } from "../model.ts";
import type { Cause } from "../refusal.ts";
import { EVERY, MANY } from "../state/busy-times.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";
import { ALIKE, APART } from "../state/roster.ts";
import {
  asksScalars,
  carries,
  healthyEnough,
  lacksScalar,
  lastingCause,
  scarceScalars,
  unitsCause,
} from "./fit.ts";
import type { Window } from "./fit.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

export interface Verdict {
  readonly cause: Cause | null;
  /** Nodes that the caller has found it to hold for. */
  nodes: number;
}

/**
 * What a verdict says besides. Called right after `cause` was found: when it is null, `plan.units` holds the
 * free units, as after `causeOf`.
 */
export type Find<V extends Verdict> = (cause: Cause | null, entry: SeenNode, window: Window) => V;

/** What is known of a make. */
interface OfMake<V> {
  /** It never takes the request. */
  readonly never: V | null;
  /** Its faulty units alone keep it out, outside of maintenance. */
  readonly unsound: V | null;
  /** The units that matter, a bit each. */
  readonly matters: number;
  /** By the booked ones of these. */
  readonly bySet: Sets<V>;
  /** With none of them booked; null until one was looked at. */
  quiet: V | null;
  /** A member wants every unit of the node, so it is one verdict whichever are booked; null until one was looked at. */
  taken: V | null;
  readonly wantsAll: boolean;
}

/** In place of the summary of 32 rows that is too long to read: each may have something booked. */
const PERHAPS: number = 2 * MANY - 1;

/** Something by set of units. */
interface Sets<V> {
  get(set: number): V | undefined;
  set(set: number, value: V): unknown;
}

export class Judge<V extends Verdict> {
  readonly #plan: Plan;
  readonly #find: Find<V>;
  readonly #entries: readonly SeenNode[];
  readonly #roster: PoolView["roster"];
  readonly #rows: Int32Array;
  readonly #makeOf: Int32Array;
  readonly #judged: Uint8Array;
  readonly #byMake: (OfMake<V> | undefined)[] = [];
  readonly #hasOwn: boolean;
  /** By 32 rows: those with something booked in the request's window; `MANY` until it is looked at. */
  readonly #busy: Float64Array;

  constructor(state: PoolView, plan: Plan, find: Find<V>) {
    this.#plan = plan;
    this.#find = find;
    this.#entries = state.entries;
    this.#roster = state.roster;
    this.#rows = state.roster.rowsOf(state.entries);
    this.#makeOf = state.roster.makeOf;
    this.#judged = state.roster.judged;
    this.#busy = new Float64Array((state.roster.makeOf.length >> 5) + 1).fill(MANY);
    this.#hasOwn = plan.pinned !== null || plan.labelled.length > 0;
  }

  /** @param at the node's place among the entries */
  look(at: number, window: Window): V {
    const row = this.#rows[at] as number;
    // Most nodes of a walk end here, so it is kept short.
    if (!this.#hasOwn && row >= 0 && window === this.#plan.request) {
      const known = this.#byMake[this.#makeOf[row] as number];
      if (known?.never) return known.never;
      if (known && this.#judged[row] === ALIKE) {
        const busy = this.#busy[row >> 5] as number;
        const isQuiet = (busy & (1 << (row & 31))) === 0;
        if (isQuiet && known.quiet && busy !== MANY) return known.quiet;
        if (!isQuiet && known.taken && busy !== PERHAPS) return known.taken;
      }
    }
    return this.#lookClosely(at, window);
  }

  #lookClosely(at: number, window: Window): V {
    const row = this.#rows[at] as number;
    if (row < 0 || (this.#hasOwn && this.#isOwn(at))) return this.#alone(at, window);
    const known = this.#make(at);
    if (known.never !== null) return known.never;
    const judged = this.#judged[row] as number;
    if (judged !== ALIKE && (judged === APART || this.#isServiced(at, window)))
      return this.#alone(at, window);
    if (known.unsound !== null) return known.unsound;
    const set = this.#isQuiet(row, window) ? 0 : this.#booked(at, window, known.matters);
    let verdict = known.bySet.get(set);
    if (verdict === undefined) known.bySet.set(set, (verdict = this.#alone(at, window)));
    if (set === 0) known.quiet = verdict;
    else if (known.wantsAll) known.taken = verdict;
    return verdict;
  }

  /** Whether nothing that ends will make the node fit. */
  isHopeless(at: number): boolean {
    if ((this.#rows[at] as number) >= 0 && !(this.#hasOwn && this.#isOwn(at))) {
      const { never, unsound } = this.#make(at);
      return never !== null || unsound !== null;
    }
    const entry = this.#entry(at);
    const fit = fitOf(this.#plan, entry);
    return lastingCause(this.#plan, entry, fit) !== null || !healthyEnough(this.#plan, entry, fit);
  }

  /** Whether nothing of the node is booked, as far as that is known for many nodes at once. */
  #isQuiet(row: number, window: Window): boolean {
    if (window !== this.#plan.request) return false;
    const group = row >> 5;
    let busy = this.#busy[group] as number;
    if (busy === MANY) {
      busy = this.#roster.anyBusy.during(group, window, EVERY);
      if (busy === MANY) busy = PERHAPS;
      this.#busy[group] = busy;
    }
    return (busy & (1 << (row & 31))) === 0;
  }

  /** Those of these units that are booked at some time of the window. */
  #booked(at: number, window: Window, units: number): number {
    const row = this.#rows[at] as number;
    const booked = this.#roster.busy.during(row, window, units);
    return (booked === MANY ? this.#entry(at).calendar.bookedIn(window) : booked) & units;
  }

  #entry(at: number): SeenNode {
    return this.#entries[at] as SeenNode;
  }

  #alone(at: number, window: Window): V {
    const entry = this.#entry(at);
    return this.#find(unitsCause(this.#plan, entry, window), entry, window);
  }

  /** Whether the request says something of this very node. */
  #isOwn(at: number): boolean {
    const { pinned, labelled } = this.#plan;
    const entry = this.#entry(at);
    if (pinned?.has(entry.node.id)) return true;
    return labelled.some((labels) => !carries(entry.node.labels, labels));
  }

  #isServiced(at: number, window: Window): boolean {
    return this.#entry(at).node.maintenance.some(
      ({ start, end }) => start < window.end && end > window.start,
    );
  }

  #make(at: number): OfMake<V> {
    const number = this.#makeOf[this.#rows[at] as number] as number;
    return this.#byMake[number] ?? (this.#byMake[number] = this.#judgeMake(this.#entry(at)));
  }

  #judgeMake(entry: SeenNode): OfMake<V> {
    const plan = this.#plan;
    const fit = fitOf(plan, entry);
    const lasting = lastingCause(plan, entry, fit);
    const isSound = lasting !== null || healthyEnough(plan, entry, fit);
    return {
      never: lasting === null ? null : this.#find(lasting, entry, plan.request),
      unsound: isSound ? null : this.#find("UNHEALTHY", entry, plan.request),
      matters: fit.places.reduce((set, place) => set | (1 << place), 0),
      bySet: setsOf<V>(fit.places),
      quiet: null,
      taken: null,
      wantsAll: fit.wanted === entry.node.units.length && fit.places.length === fit.wanted,
    };
  }
}

/** Small sets are places in a list, which is read faster than a map. */
class Listed<V> implements Sets<V> {
  readonly #list: (V | undefined)[] = [];

  get(set: number): V | undefined {
    return this.#list[set];
  }

  set(set: number, value: V): void {
    this.#list[set] = value;
  }
}

const LISTED_UNITS = 10;

function setsOf<V>(places: readonly number[]): Sets<V> {
  const isSmall = places.every((place) => place < LISTED_UNITS);
  return isSmall ? new Listed<V>() : new Map<number, V>();
}

/** The nodes that lack a scalar in the request's window, of those that lack nothing else. */
export class Lacking {
  /** Of which some of them has too little. */
  readonly scalars: Set<Scalar> = new Set();
  /** Those that have as much in all. */
  nodes = 0;
  readonly #plan: Plan;
  readonly #asks: boolean;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#asks = asksScalars(plan);
  }

  /** Asked once a node, of those that have the units. */
  has(entry: SeenNode): boolean {
    const { request } = this.#plan;
    if (!this.#asks || !lacksScalar(this.#plan, entry, request)) return false;
    this.name(entry);
    this.nodes += 1;
    return true;
  }

  /** Notes of which it has too little. */
  name(entry: SeenNode): void {
    const { request } = this.#plan;
    for (const scalar of scarceScalars(this.#plan, entry, request)) this.scalars.add(scalar);
  }
}

/** By cause, how many nodes it rules out. */
export function countsOf(verdicts: readonly Verdict[], lacking: Lacking): Map<Cause, number> {
  const counts = new Map<Cause, number>();
  for (const { cause, nodes } of verdicts)
    if (cause !== null && nodes > 0) counts.set(cause, (counts.get(cause) ?? 0) + nodes);
  if (lacking.nodes > 0) counts.set("SCALAR", (counts.get("SCALAR") ?? 0) + lacking.nodes);
  return counts;
}
