/**
 * Several members at once, all or none: a gang, or several whole nodes. A member wants what every other
 * wants, so a topology domain takes as many as its nodes take in all, each node's number being exact
 * (`members.ts`). Every domain that takes the whole gang is then laid out in full, node by node, always
 * where the next member costs least; the layout with the best mean score wins, and among equals the domain
 * that is left with the least room (with the policy `spread`: with the most).
 */
import type { NodeId, UnitId } from "../ids.ts";
import type { PlaceRequest } from "../model.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";
import { chooseMembers } from "./choose.ts";
import { causeOf, freeUnits, isPlain, scalarsMost } from "./fit.ts";
import type { Window } from "./fit.ts";
import { memberScore } from "./growth.ts";
import { countsOf, Judge, Lacking } from "./judge.ts";
import type { Verdict } from "./judge.ts";
import { membersMost } from "./members.ts";
import { gpusTaken, wholeScore } from "./node-binding.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import type { Findings } from "./reason.ts";
import { shortfallOf } from "./shortfall.ts";
import { Top } from "./top.ts";

/** What a node has for members, by its units. */
interface Room {
  /** Members, no more than are asked for. */
  readonly most: number;
  /** Units of the scored class: free in the window, and all. */
  readonly free: number;
  readonly total: number;
}

/** The same for all nodes of one make with the same units booked. */
interface RoomVerdict extends Room, Verdict {
  /** Its place among the verdicts. */
  readonly number: number;
}

/** A node that takes one member or more. */
export interface Berths {
  readonly entry: SeenNode;
  readonly room: RoomVerdict;
  /** Members that it takes by units and scalars, no more than are asked for. */
  readonly most: number;
}

/** Nodes on which members may be together. */
export interface TopologyDomain {
  readonly berths: readonly Berths[];
  /** Members that they take in all. */
  readonly room: number;
}

export interface PlacedMember {
  readonly entry: SeenNode;
  readonly unitIds: readonly UnitId[];
  readonly score: number;
}

/** Members by node, in the nodes' order; or why not. */
export type GangPlacement =
  | { readonly fits: true; readonly members: readonly PlacedMember[] }
  | { readonly fits: false; readonly findings: Findings };

/** @param options with `fewestGpus` the nodes with the fewest GPUs, whatever their score */
export function placeGang(
  state: PoolView,
  plan: Plan,
  options: { readonly fewestGpus?: boolean | undefined },
): GangPlacement {
  const { request } = plan;
  const walk = walkNodes(state, plan, request);
  const rate = options.fewestGpus ? (b: Berths): number => -gpusTaken(b.entry) : scoreFor(plan);
  let best: Layout | null = null;
  const seen = new Set<string>();
  for (const domain of walk.domains) {
    if (domain.room < plan.size) continue;
    // The layout of one that looks the same is as good, and was there first.
    const looks = walk.domains.length > 1 ? looksOf(domain) : "";
    if (looks !== "" && seen.has(looks)) continue;
    seen.add(looks);
    const layout = layOut(plan, domain, rate);
    if (!best || isBetter(plan, layout, best)) best = layout;
  }
  if (best) return { fits: true, members: membersOf(plan, best, request) };
  return { fits: false, findings: { ...walk, gang: shortfallOf(plan, walk.domains) } };
}

/** What a layout is made by: of each node, in order, what it has and how many members it takes. */
function looksOf({ berths }: TopologyDomain): string {
  let looks = "";
  for (const { room, most } of berths) looks += `${room.number} ${most},`;
  return looks;
}

interface Walk extends Findings {
  readonly domains: readonly TopologyDomain[];
}

function walkNodes(state: PoolView, plan: Plan, window: Window): Walk {
  const values =
    plan.topologyKey === undefined ? null : state.roster.valuesOf(plan.topologyKey, state.entries);
  const domains: Filling[] = [];
  const byValue: Filling[] = [];
  const verdicts: RoomVerdict[] = [];
  const judge = new Judge<RoomVerdict>(state, plan, (cause, entry) => {
    const { most, free, total } = cause === null ? roomOf(plan, entry, window) : NO_ROOM;
    const verdict = { cause, nodes: 0, number: verdicts.length, most, free, total };
    verdicts.push(verdict);
    return verdict;
  });
  const lacking = new Lacking(plan);
  const hasAsks = plan.asks.length > 0;
  let [unlabelled, able] = [0, 0];
  for (let at = 0; at < state.entries.length; at += 1) {
    const room = judge.look(at, window);
    const { cause } = room;
    const entry = state.entries[at] as SeenNode;
    if (cause !== null) {
      room.nodes += 1;
      if (cause === "SCALAR") lacking.name(entry);
      continue;
    }
    if (lacking.has(entry)) continue;
    const value = values === null ? 0 : (values[at] as number);
    if (value < 0) {
      unlabelled += 1;
      continue;
    }
    able += 1;
    const most = hasAsks ? Math.min(room.most, scalarsMost(plan, entry, window)) : room.most;
    let domain = byValue[value];
    if (!domain) domains.push((domain = byValue[value] = { berths: [], room: 0 }));
    domain.berths.push({ entry, room, most });
    domain.room += most;
  }
  const counts = countsOf(verdicts, lacking);
  if (unlabelled > 0) counts.set("TOPOLOGY_KEY", unlabelled);
  if (able > 0) counts.set("GANG", able);
  return { nodes: state.nodeCount, counts, scarce: lacking.scalars, domains };
}

interface Filling {
  readonly berths: Berths[];
  room: number;
}

const NO_ROOM: Room = { most: 0, free: 0, total: 0 };

/** Whether all of them fit in some topology domain at the asked start. */
export function gangFits(state: PoolView, plan: Plan): boolean {
  return walkNodes(state, plan, plan.request).domains.some(({ room }) => room >= plan.size);
}

/** Which domain the node is in; null when it is in none. Without a key all nodes are together. */
export function domainValue(plan: Plan, entry: SeenNode): string | null {
  const { topologyKey: key } = plan;
  if (key === undefined) return "";
  const { labels } = entry.node;
  return Object.hasOwn(labels, key) ? (labels[key] as string) : null;
}

/** Right after `causeOf` found that the node takes a member: how many, by its units and its scalars. */
export function mostOn(plan: Plan, entry: SeenNode, window: Window): number {
  return Math.min(roomOf(plan, entry, window).most, scalarsMost(plan, entry, window));
}

/** The same by its units alone. */
function roomOf(plan: Plan, entry: SeenNode, window: Window): Room {
  const fit = fitOf(plan, entry);
  const total = fit.scoredTotal;
  if (plan.whole) return { most: 1, free: total, total };
  const units = isPlain(entry) ? freeUnits({ plan, entry, fit }, window) : plan.units;
  const { scored: free } = units;
  const most = membersMost(fit.demand, units, { most: plan.size, search: plan.search });
  return { most, free, total };
}

/** Whether all members fit in some topology domain, kept true node by node while the pool changes. */
export class GangRoom {
  readonly #state: PoolView;
  readonly #plan: Plan;
  readonly #most = new Map<NodeId, number>();
  readonly #room = new Map<string, number>();
  /** Domains that take them all. */
  #able = 0;

  constructor(state: PoolView, plan: Plan) {
    this.#state = state;
    this.#plan = plan;
    for (const { berths, room } of walkNodes(state, plan, plan.request).domains) {
      for (const { entry, most } of berths) this.#most.set(entry.node.id, most);
      this.#room.set(domainValue(plan, (berths[0] as Berths).entry) ?? "", room);
      this.#able += Number(room >= plan.size);
    }
  }

  get fits(): boolean {
    return this.#able > 0;
  }

  /** To be called when what is free on the node has changed. */
  look(nodeId: NodeId): void {
    const entry = this.#state.entry(nodeId);
    const value = entry && domainValue(this.#plan, entry);
    if (!entry || value == null) return;
    const { request, size } = this.#plan;
    const takes = causeOf(this.#plan, entry, request) === null;
    const most = takes ? mostOn(this.#plan, entry, request) : 0;
    const before = this.#room.get(value) ?? 0;
    const after = before + most - (this.#most.get(nodeId) ?? 0);
    this.#most.set(nodeId, most);
    this.#room.set(value, after);
    this.#able += Number(after >= size) - Number(before >= size);
  }
}

/** Where each member goes, and how good that is. */
interface Layout {
  readonly taken: readonly { readonly entry: SeenNode; readonly scores: readonly number[] }[];
  readonly score: number;
  /** Members for which the domain has room besides. */
  readonly left: number;
}

/** How good a node is for its next member, after some others. */
type Rate = (berths: Berths, before: number) => number;

function scoreFor(plan: Plan): Rate {
  if (plan.whole) return ({ entry }) => wholeScore(entry);
  const { scoredWanted } = plan;
  // Of one room all nodes are of one make, with the same units free.
  const known: number[][] = [];
  return ({ entry, room: { number, free, total } }, before) => {
    const scores = (known[number] ??= []);
    return (scores[before] ??= memberScore(plan, entry, {
      free: free - before * scoredWanted,
      total,
    }));
  };
}

function layOut(plan: Plan, domain: TopologyDomain, rate: Rate): Layout {
  // There are no more members than these, so no other node can be the best for any of them.
  const top = new Top<Berths>(plan.size);
  for (const berths of domain.berths) top.offer(berths, rate(berths, 0));
  const open = top.list.map(({ item, score }) => ({
    berths: item,
    scores: [] as number[],
    next: score,
  }));
  let sum = 0;
  for (let placed = 0; placed < plan.size; placed += 1) {
    let best = open[0] as (typeof open)[number];
    for (const one of open) if (one.next > best.next) best = one;
    sum += best.next;
    best.scores.push(best.next);
    const full = best.scores.length >= best.berths.most;
    best.next = full ? Number.NEGATIVE_INFINITY : rate(best.berths, best.scores.length);
  }
  const taken = open
    .filter(({ scores }) => scores.length > 0)
    .map(({ berths, scores }) => ({ entry: berths.entry, scores }));
  return { taken, score: sum / plan.size, left: domain.room - plan.size };
}

function isBetter(plan: Plan, a: Layout, b: Layout): boolean {
  if (a.score !== b.score) return a.score > b.score;
  return plan.policy === "pack" ? a.left < b.left : a.left > b.left;
}

function membersOf(plan: Plan, layout: Layout, request: PlaceRequest): PlacedMember[] {
  return [...layout.taken]
    .sort((a, b) => (a.entry.node.id < b.entry.node.id ? -1 : 1))
    .flatMap(({ entry, scores }) => {
      const lists = chooseMembers({ plan, entry }, request, scores.length);
      return lists.map((unitIds, i) => {
        // Whole nodes may have been rated by their GPUs alone.
        const score = plan.whole ? wholeScore(entry) : scores[i];
        return { entry, unitIds, score: score as number };
      });
    });
}
