/**
 * What a node is made of, without names, health or bookings. A fleet of ten thousand nodes has a handful
 * of shapes, so what depends on the shape alone is worked out once a request, not once a node.
 */
import type { Node, UnitClass } from "../model.ts";

export interface ShapeUnit {
  readonly class: UnitClass;
  readonly model: string | null;
  readonly profile: string | null;
  readonly memoryGiB: number | null;
  /** NVLink domains of the node, numbered as they first appear; -1 for a unit without one. */
  readonly domain: number;
}

export interface Shape {
  /** A small number of its own within the pool; a number that is free again is given anew. */
  readonly number: number;
  /** In the order of the node's units. */
  readonly units: readonly ShapeUnit[];
}

/** Hands out one object for equal shapes. Forgets a shape with the last node that has it. */
export class Shapes {
  readonly #known = new Map<string, { readonly shape: Shape; nodes: number }>();
  readonly #keys = new Map<Shape, string>();
  readonly #free: number[] = [];

  acquire(node: Node): Shape {
    const units = unitsOf(node);
    const key = JSON.stringify(
      units.map((u) => [u.class, u.model, u.profile, u.memoryGiB, u.domain]),
    );
    const known = this.#known.get(key);
    if (known) {
      known.nodes += 1;
      return known.shape;
    }
    const shape = { number: this.#free.pop() ?? this.#known.size, units };
    this.#known.set(key, { shape, nodes: 1 });
    this.#keys.set(shape, key);
    return shape;
  }

  release(shape: Shape): void {
    const key = this.#keys.get(shape) ?? "";
    const known = this.#known.get(key);
    if (!known) return;
    known.nodes -= 1;
    if (known.nodes > 0) return;
    this.#known.delete(key);
    this.#keys.delete(shape);
    this.#free.push(shape.number);
  }

  all(): Iterable<Shape> {
    return this.#keys.keys();
  }
}

function unitsOf(node: Node): ShapeUnit[] {
  const domains = new Map<string, number>();
  return node.units.map((unit) => {
    let domain = -1;
    if (unit.nvlinkDomain !== null) {
      domain = domains.get(unit.nvlinkDomain) ?? domains.size;
      domains.set(unit.nvlinkDomain, domain);
    }
    const { class: kind, model, profile, memoryGiB } = unit;
    return { class: kind, model, profile, memoryGiB, domain };
  });
}
