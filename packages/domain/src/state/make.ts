/**
 * What a node is to a request, its bookings, names and labels aside: shape, state, amounts and faults. Of two nodes
 * of one make with the same units booked, a request fits both or neither, for the same cause and at the
 * same score, so it is judged once for both.
 */
import type { Node } from "../model.ts";
import { SCALARS } from "../model.ts";
import type { Shape } from "./shape.ts";

export interface Make {
  readonly key: string;
  /** A small number of its own within the pool; that of a make which no node has any more is given anew. */
  readonly number: number;
  /** By unit, 1 for one that is sound and still there. */
  readonly usable: Uint8Array;
}

/** Hands out one object for equal makes. */
export class Makes {
  readonly #known = new Map<string, { readonly make: Make; nodes: number }>();
  readonly #free: number[] = [];

  acquire(key: string, usable: Uint8Array): Make {
    const known = this.#known.get(key);
    if (known) {
      known.nodes += 1;
      return known.make;
    }
    const make = { key, number: this.#free.pop() ?? this.#known.size, usable };
    this.#known.set(key, { make, nodes: 1 });
    return make;
  }

  release({ key, number }: Make): void {
    const known = this.#known.get(key);
    if (!known) return;
    known.nodes -= 1;
    if (known.nodes > 0) return;
    this.#known.delete(key);
    this.#free.push(number);
  }
}

/** @param usable by unit, whether it is sound and still there */
export function makeKey(node: Node, shape: Shape, usable: Uint8Array): string {
  const faults = usable.includes(0) ? usable.join("") : "";
  const amounts = SCALARS.map((scalar) => node.scalars[scalar]);
  return JSON.stringify([shape.number, node.state, amounts, faults, gpusOf(node)]);
}

/** GPUs that units are parts of: what whole nodes are asked for is theirs. */
function gpusOf({ gpus, units }: Node): unknown[] {
  const places = new Map<string, number>(gpus.map(({ id }, place) => [id, place]));
  const domains = [...new Set(gpus.map(({ nvlinkDomain }) => nvlinkDomain))];
  const parts = units.map(({ parentUnitId }) =>
    parentUnitId === null ? -1 : (places.get(parentUnitId) ?? parentUnitId),
  );
  return [
    gpus.map(({ model, memoryGiB, healthy, removed, nvlinkDomain }) => {
      const domain = nvlinkDomain === null ? -1 : domains.indexOf(nvlinkDomain);
      return [model, memoryGiB, healthy && !removed, domain];
    }),
    parts.some((part) => part !== -1) ? parts : [],
  ];
}
