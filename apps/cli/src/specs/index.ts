/** Every command for people, in the order of the help. */
import type { CommandSpec } from "../spec.ts";
import { BOOKING } from "./booking.ts";
import { LOOKING, OTHER, SIGNING_IN } from "./looking.ts";

export const COMMANDS: readonly CommandSpec[] = [...SIGNING_IN, ...LOOKING, ...BOOKING, ...OTHER];

/** The operators' verbs: they come with the server, and without it only their names are known. */
export const OPERATORS: readonly string[] = [
  "serve",
  "import",
  "tenants",
  "keys",
  "migrate",
  "rebuild",
  "doctor",
  "clock",
  "openapi",
];

/** What `keys create` and the like are told of, without the server's package. */
export const isOperators = (name: string): boolean =>
  OPERATORS.includes(name) || name === "reference";
