/**
 * Examples of every method's input and answer and of every kind of error: what the OpenAPI document shows, held
 * against the schemas by a test.
 */
import type { MethodName } from "../contract.ts";
import { ACCESS, EVENTS } from "./access.ts";
import { CAPACITY } from "./capacity.ts";
import { FLEET } from "./fleet.ts";
import { POOLS } from "./pools.ts";
import { RESERVATIONS } from "./reservations.ts";
import type { Example } from "./story.ts";
import { UNIT_RESERVATIONS } from "./unit-reservations.ts";

export { ERROR_EXAMPLES, errorExample } from "./errors.ts";

/** By `group.method`; the first is the plainest. */
export const EXAMPLES: { readonly [M in MethodName]: readonly [Example<M>, ...Example<M>[]] } = {
  ...CAPACITY,
  ...POOLS,
  ...RESERVATIONS,
  ...UNIT_RESERVATIONS,
  ...FLEET,
  ...ACCESS,
  ...EVENTS,
};
