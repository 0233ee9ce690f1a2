/**
 * What the OpenAPI document promises, held against requests that are made from it: right ones and ones with
 * exactly one thing wrong, on each surface. `DOCUMENT_RUNS` sets how many a surface gets; a run that failed
 * says its seed and path, and comes again with `DOCUMENT_SEED` and `DOCUMENT_PATH`.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Answer, Surface } from "./caller.ts";
import type { Case } from "./cases.ts";
import { madeReadable } from "./made.ts";
import { plainOf, restOf } from "./openapi.ts";
import { PATIENCE_MS, RUNS, type Session, inGroups, startSession } from "./session.ts";
import type { World } from "./world.ts";

let session: Session;
beforeAll(async () => {
  session = await startSession();
});
afterAll(async () => {
  process.stdout.write(`${session.report()}\n`);
  await session.stop();
});

const share = (part: number): number => Math.ceil(RUNS * part);
/** Of each surface's requests; the rest have one thing wrong. */
const RIGHT = 0.1;
const RIGHT_REST = 0.05;

/** What surfaces must agree on. */
const verdict = ({ error }: Answer) =>
  error && {
    code: error.code,
    message: error.message,
    issues: error.issues,
    details: error.details,
  };

async function leaveNoTrace(group: readonly Case[], surfaces: readonly Surface[]): Promise<void> {
  const [world] = session.worlds;
  const before = await world.books();
  await Promise.all(
    group.map(async (each) => {
      const answers = await Promise.all(
        surfaces.map((surface) => session.ask(world, surface, each)),
      );
      const [first, ...others] = answers.map(verdict);
      for (const other of others) expect(other).toEqual(first);
    }),
  );
  expect(await world.books(), "a refused call left something behind").toEqual(before);
}

it(
  "one thing wrong is INVALID_INPUT that names it, alike by tRPC and as JSON, and leaves no trace",
  async () => {
    const cases = session.cases.invalid(plainOf(session.operations));
    await inGroups(cases, share(1 - RIGHT - RIGHT_REST), (group) =>
      leaveNoTrace(group, ["trpc", "json"]),
    );
  },
  PATIENCE_MS,
);

it(
  "one thing wrong is INVALID_INPUT that names it under the paths of unit reservations, and leaves no trace",
  async () => {
    const cases = session.cases.invalid(restOf(session.operations));
    await inGroups(cases, share(1 - RIGHT_REST), (group) => leaveNoTrace(group, ["rest"]));
  },
  PATIENCE_MS,
);

/** The same call in three worlds, each by its own surface: they answer alike and stay alike. */
async function liveAlike(each: Case, step: number): Promise<void> {
  const surfaces: readonly Surface[] = [
    "trpc",
    "json",
    each.operation.path.startsWith("/v1/") ? "rest" : "json",
  ];
  const { worlds } = session;
  await Promise.all(worlds.map((world) => world.pass(1)));
  // Looked at before and after now and then: a change is the exception, and only a look knows.
  const watched = step % 4 === 0 ? await worlds[0].books() : undefined;
  const answers = await Promise.all(
    worlds.map((world, at) => session.ask(world, surfaces[at] ?? "json", each)),
  );
  const [told, ...others] = answers.map((answer, at) =>
    alike(worlds[at] ?? worlds[0], each, answer),
  );
  for (const other of others) expect(other, each.operation.name).toEqual(told);
  if (watched !== undefined && answers[0]?.error !== undefined)
    expect(await worlds[0].books(), each.operation.name).toEqual(watched);
  for (const [at, answer] of answers.entries()) {
    const world = worlds[at] ?? worlds[0];
    if (answer.error) continue;
    world.learn(each.operation, answer.output);
    await madeReadable(world, each, answer.output);
  }
}

/** Lists of what happened are as long as what other databases of the machine let be seen of them. */
const AS_SEEN = new Set(["events.list", "access.audit"]);

function alike(world: World, { operation }: Case, answer: Answer): unknown {
  const { status, output, error } = answer;
  if (error) return { status, ...(world.neutral(verdict(answer)) as object) };
  return AS_SEEN.has(operation.method) ? null : world.neutral(output);
}

async function live(cases: Parameters<typeof inGroups>[0], runs: number): Promise<void> {
  let step = 0;
  await inGroups(cases, runs, async (group) => {
    if (step % 200 === 0) await Promise.all(session.worlds.map((world) => world.refresh()));
    for (const each of group) await liveAlike(each, step++);
  });
  const [rows, ...others] = await Promise.all(session.worlds.map((world) => world.rows()));
  for (const other of others) expect(other).toEqual(rows);
}

it(
  "what the document allows does the same on each surface, and what it makes can be read at once",
  async () => {
    await live(session.cases.valid(plainOf(session.operations)), share(RIGHT));
    await live(session.cases.valid(restOf(session.operations)), share(RIGHT_REST));
    for (const { server } of session.worlds) await server.expectHealthy();
  },
  PATIENCE_MS,
);
