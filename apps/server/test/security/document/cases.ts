/** Requests as fast-check makes them: an operation, an input, and what has to come of it. */
import fc from "fast-check";
import { type Sent, plain } from "./caller.ts";
import type { Judge } from "./judge.ts";
import { Spelled, encode, meaning } from "./marks.ts";
import { type Expected, type Path, mutate } from "./mutations.ts";
import type { Document, Operation } from "./openapi.ts";
import { createValues } from "./values.ts";

export interface Case {
  readonly operation: Operation;
  /** `valid`, or what is wrong with it. */
  readonly kind: string;
  readonly path: Path;
  readonly input: unknown;
  /** `allowed`: by everything that the document's schema says. */
  readonly expected: "allowed" | "refused" | Exclude<Expected, "schema">;
}

/** How often a method is called; what takes things away is rare, so that there are things. */
const WEIGHTS: Readonly<Record<string, number>> = {
  "reservations.create": 12,
  "reservations.renew": 6,
  "reservations.extend": 6,
  "reservations.release": 4,
  "unitReservations.create": 6,
  "fleet.putNodes": 2,
  "fleet.removeNode": 1,
  "fleet.assignNode": 1,
  "pools.archive": 1,
  "pools.create": 2,
  "reservations.quote": 2,
};

export interface Cases {
  valid(operations: readonly Operation[]): fc.Arbitrary<Case>;
  /** One thing wrong with it, and the document says so. */
  invalid(operations: readonly Operation[]): fc.Arbitrary<Case>;
}

export function createCases(document: Document, judge: Judge): Cases {
  const values = createValues(document);
  const right = (operation: Operation): fc.Arbitrary<Case> =>
    values
      .inputOf(operation.method, operation.input)
      .map((input) => told({ operation, kind: "valid", path: [], input, expected: "allowed" }));
  const wrong = (operation: Operation): fc.Arbitrary<Case> =>
    fc
      .tuple(
        values.inputOf(operation.method, operation.input),
        fc.record({ kind: fc.nat(999), place: fc.nat(99), dice: fc.nat(39) }),
      )
      .map(([input, draw]) => {
        const mutated = mutate(document, { schema: operation.input, input }, draw);
        return told({ operation, ...mutated, expected: expectation(judge, operation, mutated) });
      });
  const among = (
    operations: readonly Operation[],
    of: (operation: Operation) => fc.Arbitrary<Case>,
    weighted: boolean,
  ): fc.Arbitrary<Case> =>
    fc.oneof(
      ...operations.map((operation) => ({
        weight: weighted ? (WEIGHTS[operation.method] ?? 3) : 1,
        arbitrary: of(operation),
      })),
    );
  return {
    valid: (operations) => among(operations, right, true),
    invalid: (operations) =>
      among(operations, wrong, false).filter(
        (each) => each.expected !== "allowed" && fitsAddress(each),
      ),
  };
}

/** What a failing run prints of it. */
function told(each: Case): Case {
  const { operation, kind, path, expected } = each;
  const print = (): string =>
    `${operation.name}: ${kind} at ${JSON.stringify(path)}, ${expected}, ${encode(each.input).slice(0, 500)}`;
  return { ...each, [fc.toStringMethod]: print } as Case;
}

function expectation(
  judge: Judge,
  operation: Operation,
  { expected, input }: { expected: Expected; input: unknown },
): Case["expected"] {
  if (expected !== "schema") return expected;
  const heard = meaning(asHeard(operation, input));
  if (!heard) return "not-json";
  return judge.allows(operation, heard.value) ? "allowed" : "refused";
}

/** An address holds texts: what stands there is one, or a number where the document has one. */
function asHeard(operation: Operation, input: unknown): unknown {
  const places = [...operation.inPath, ...operation.inQuery];
  if (
    places.length === 0 ||
    typeof input !== "object" ||
    input === null ||
    input instanceof Spelled
  )
    return input;
  if (Array.isArray(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (!places.includes(name)) return [name, value as unknown];
      const text = plain(encode(value));
      const numeric = operation.input.properties?.[name]?.type === "integer";
      return [name, numeric && /^\d{1,9}$/.test(text) ? Number(text) : text];
    }),
  );
}

/** What no address can hold is left to the bodies. */
function fitsAddress({ operation, input, path, expected }: Case): boolean {
  if (operation.verb === "GET" && path.length === 0) return false;
  const places = [...operation.inPath, ...operation.inQuery];
  const [field] = path;
  if (typeof field !== "string" || !places.includes(field)) return true;
  const value = (input as Record<string, unknown>)[field];
  if (value === undefined || value === "" || expected !== "refused") return false;
  const text = encode(value);
  return text.length < 1_000 && plain(text).isWellFormed();
}

/** As it goes over the wire to a world, whose ids `settled` puts in. */
export function toSent(
  { operation, input, expected }: Case,
  settled: (text: string) => string,
): Sent {
  const text = encode(input, settled);
  const isFields =
    typeof input === "object" &&
    input !== null &&
    !Array.isArray(input) &&
    !(input instanceof Spelled);
  const fields = isFields
    ? new Map(Object.entries(input).map(([name, value]) => [name, encode(value, settled)]))
    : null;
  return { operation, fields, text, asQuery: expected === "allowed" && text.length < 1_000 };
}
