/** The whole wire in one object: group → method → the schemas of what goes in and comes out. */
import type { z } from "zod";
import { access } from "./access.ts";
import { capacity } from "./capacity.ts";
import { events } from "./events.ts";
import { fleet } from "./fleet.ts";
import { pools } from "./pools.ts";
import { reservations } from "./reservations.ts";
import { unitReservations } from "./unit-reservations.ts";

export const contract = {
  capacity,
  pools,
  reservations,
  unitReservations,
  fleet,
  access,
  events,
};
export type Contract = typeof contract;
export type GroupName = keyof Contract;

/** `group.method`. */
export type MethodName = {
  [G in GroupName]: `${G}.${keyof Contract[G] & string}`;
}[GroupName];

type Schemas<M extends MethodName> = M extends `${infer G extends GroupName}.${infer N}`
  ? N extends keyof Contract[G]
    ? Contract[G][N] extends { input: infer I extends z.ZodType; output: infer O extends z.ZodType }
      ? { input: I; output: O }
      : never
    : never
  : never;

/** What a handler is given: parsed, defaults filled in. */
export type Input<M extends MethodName> = z.output<Schemas<M>["input"]>;
/** What a caller may send. */
export type RawInput<M extends MethodName> = z.input<Schemas<M>["input"]>;
/** What a handler answers. */
export type Output<M extends MethodName> = z.input<Schemas<M>["output"]>;

export const METHOD_NAMES: readonly MethodName[] = Object.entries(contract).flatMap(
  ([group, methods]) =>
    // Object.entries forgets the names that the type above lists.
    Object.keys(methods).map((method) => `${group}.${method}` as MethodName),
);

/** The schemas of one method, by name. */
export function schemasOf(name: MethodName): { input: z.ZodType; output: z.ZodType } {
  const [group, method] = name.split(".") as [GroupName, string];
  const methods: Record<string, { input: z.ZodType; output: z.ZodType }> = contract[group];
  const found = methods[method];
  if (!found) throw new Error(`no such method: ${name}`);
  return found;
}
