/** What only answers say, nobody can say of himself: each field that no input of a method has is refused by name. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Surface } from "./caller.ts";
import { type Case, toSent } from "./cases.ts";
import { type Operation, type Schema, plainOf, restOf, solid } from "./openapi.ts";
import { type Session, startSession } from "./session.ts";

let session: Session;
beforeAll(async () => {
  session = await startSession();
});
afterAll(() => session.stop());

/** As many as one answer names. */
const AT_ONCE = 40;

/** Every field of every answer. */
function toldFields(): string[] {
  const { document, operations } = session;
  const names = new Set<string>(["charged", "role", "admin", "isAdmin", "principal", "seq"]);
  const seen = new Set<Schema>();
  const walk = (raw: Schema): void => {
    const schema = solid<Schema>(document, raw);
    if (seen.has(raw)) return;
    seen.add(raw);
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      walk(part);
    }
    for (const part of [...(schema.anyOf ?? []), schema.items, schema.additionalProperties])
      if (typeof part === "object") walk(part);
  };
  for (const { responses } of operations)
    for (const { content } of Object.values(responses))
      for (const { schema } of Object.values(content)) walk(schema);
  return [...names];
}

async function refuses(
  operation: Operation,
  surface: Surface,
  fields: readonly string[],
): Promise<void> {
  const [world] = session.worlds;
  const [base] = fc.sample(session.cases.valid([operation]), { numRuns: 1, seed: 1 });
  const extra = Object.fromEntries(fields.map((field) => [field, 1]));
  const each: Case = { ...(base as Case), input: { ...(base?.input as object), ...extra } };
  const { error } = await world.call(surface, toSent(each, world.settled));
  expect(error?.code, `${surface} ${operation.name}`).toBe("INVALID_INPUT");
  const named = (error?.issues ?? []).filter(
    ({ message }) => message === "is not a field of this request",
  );
  expect(
    named.map(({ path }) => path),
    `${surface} ${operation.name}`,
  ).toEqual(fields.map((field) => [field]));
}

it("each field that only answers have is refused by name in every input, on each surface", async () => {
  const told = toldFields();
  expect(told).toEqual(
    expect.arrayContaining(["state", "used", "version", "createdBy", "owned", "members", "secret"]),
  );
  const [world] = session.worlds;
  const before = await world.books();
  const operations = [...plainOf(session.operations), ...restOf(session.operations)];
  for (const operation of operations) {
    const own = new Set(Object.keys(operation.input.properties ?? {}));
    const others = told.filter((field) => !own.has(field));
    const surfaces: readonly Surface[] = operation.path.startsWith("/v1/")
      ? ["rest"]
      : ["json", "trpc"];
    for (let from = 0; from < others.length; from += AT_ONCE)
      for (const surface of surfaces)
        await refuses(operation, surface, others.slice(from, from + AT_ONCE));
  }
  expect(await world.books()).toEqual(before);
}, 120_000);
