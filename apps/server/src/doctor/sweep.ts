/** Highest sum of amounts that are held at one instant, found by walking the edges in time order. */

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
}

export interface Peak {
  readonly amount: number;
  readonly at: number;
}

/** Half-open spans: what ends at an instant is given back before what starts there is taken. */
export function peak(spans: readonly Span[]): Peak {
  const edges = spans
    .filter((span) => span.end > span.start)
    .flatMap((span) => [
      { at: span.start, delta: span.amount },
      { at: span.end, delta: -span.amount },
    ])
    .toSorted((a, b) => a.at - b.at || a.delta - b.delta);
  let held = 0;
  let best: Peak = { amount: 0, at: 0 };
  for (const edge of edges) {
    held += edge.delta;
    if (held > best.amount) best = { amount: held, at: edge.at };
  }
  return best;
}

/** Groups by a key, keeping the order. */
export function groupBy<T>(items: Iterable<T>, key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}
