/** What a run of requests needs: servers, the document that they answer, and a count of all that was sent. */
import fc from "fast-check";
import { expect } from "vitest";
import { type Answer, SURFACES, type Surface, hangUp } from "./caller.ts";
import { type Case, type Cases, createCases, toSent } from "./cases.ts";
import { type Judge, createJudge } from "./judge.ts";
import { type Document, type Operation, operationsOf, plainOf, readDocument } from "./openapi.ts";
import { wrongs } from "./wrongs.ts";
import { type World, createWorld } from "./world.ts";

/** Requests for each surface: 21,000 in all, and more at night. */
export const RUNS = Number(process.env["DOCUMENT_RUNS"] ?? 7_000);
export const SEED = Number(process.env["DOCUMENT_SEED"] ?? Date.now() % 2 ** 31);
const PATH = process.env["DOCUMENT_PATH"];
/** For a machine that is busy with others. */
export const PATIENCE_MS = 120_000 + RUNS * 60;

export interface Session {
  readonly document: Document;
  readonly operations: readonly Operation[];
  readonly judge: Judge;
  readonly cases: Cases;
  readonly worlds: readonly [World, World, World];
  /** Sends it and fails when the answer is not what the document and the case say. */
  ask(world: World, surface: Surface, each: Case): Promise<Answer>;
  /** Told at the end: what was sent, and of what kinds. */
  report(): string;
  stop(): Promise<void>;
}

export async function startSession(): Promise<Session> {
  const worlds = [await createWorld(), await createWorld(), await createWorld()] as const;
  const document = await readDocument(worlds[0].server.url);
  const judge = createJudge(document);
  const sent = new Map<Surface, number>(SURFACES.map((surface) => [surface, 0]));
  const kinds = new Map<string, number>();
  const codes = new Map<string, number>();
  const count = <K>(map: Map<K, number>, key: K): void =>
    void map.set(key, (map.get(key) ?? 0) + 1);
  const operations = operationsOf(document);
  const plain = new Map(plainOf(operations).map((operation) => [operation.method, operation]));
  const began = process.cpuUsage();
  let slowest = { ms: 0, what: "" };

  return {
    document,
    operations,
    judge,
    cases: createCases(document, judge),
    worlds,
    async ask(world, surface, each) {
      const request = toSent(each, world.settled);
      count(sent, surface);
      count(kinds, each.kind);
      const from = performance.now();
      const answer = await world.call(surface, request);
      const ms = performance.now() - from;
      if (ms > slowest.ms) slowest = { ms, what: `${each.operation.method} ${each.kind}` };
      count(codes, answer.error?.code ?? "OK");
      const promised = surface === "rest" ? each.operation : plain.get(each.operation.method);
      const faults = [
        ...judge.faultsOf(promised ?? each.operation, answer),
        ...wrongs(each, answer),
      ];
      const told = `${surface} ${each.operation.name}, ${each.kind}: ${request.text.slice(0, 600)}`;
      if (faults.length > 0)
        expect.fail(`${told}\n${JSON.stringify(answer.raw).slice(0, 600)}\n${faults.join("\n")}`);
      return answer;
    },
    report() {
      const list = (map: Map<string, number>) =>
        [...map]
          .toSorted((a, b) => b[1] - a[1])
          .map(([name, times]) => `${name} ${times}`)
          .join(", ");
      return [
        `document: ${list(sent)}; ${Math.round(process.cpuUsage(began).user / 1e6)} s of CPU; seed ${SEED}`,
        `  answers: ${list(codes)}`,
        `  ${kinds.size - 1} kinds of one thing wrong: ${list(kinds)}`,
        `  slowest: ${Math.round(slowest.ms)} ms, ${slowest.what}`,
      ].join("\n");
    },
    async stop() {
      hangUp();
      for (const { server } of worlds) await server.stop();
    },
  };
}

const GROUP = 50;

/** How often it comes together again, and what is done with each group of cases. */
export async function inGroups(
  cases: fc.Arbitrary<Case>,
  runs: number,
  act: (group: readonly Case[]) => Promise<void>,
): Promise<void> {
  const group = fc.array(cases, { minLength: GROUP, maxLength: GROUP, size: "max" });
  await fc.assert(fc.asyncProperty(group, act), {
    numRuns: Math.ceil(runs / GROUP),
    seed: SEED,
    ...(PATH === undefined ? {} : { path: PATH }),
    // What is wrong is wrong whatever stands beside it; a group that changes things cannot be had again.
    endOnFailure: true,
  });
}
