/**
 * What released clients send still gets what they read: their recorded calls are sent to this server, with its own ids
 * and times in place. A field may be added to an answer; one that is gone or of another type, another status or another
 * code breaks programs that are out there.
 */
import { readFile, readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, startServer } from "../harness.ts";
import {
  type RecordedCall,
  type Recording,
  codesOf,
  headersOf,
  read,
} from "./recording/recording.ts";
import { found, resolved } from "./recording/references.ts";
import { type Shape, missing, shapeOf } from "./recording/shape.ts";

const RECORDED = new URL("../../../../packages/client/test/recorded/", import.meta.url);
const releases = (await readdir(RECORDED)).filter((name) => name.endsWith(".json"));

interface Replay {
  readonly url: string;
  /** Of the calls before. */
  readonly answers: readonly unknown[];
  readonly startedAt: number;
}

/** Sends a call again; answers what its client would miss, and what came. */
async function again(
  call: RecordedCall,
  { url, answers, startedAt }: Replay,
): Promise<{ readonly misses: readonly string[]; readonly parts: readonly unknown[] }> {
  const { method, path, headers, token } = call;
  const key =
    token === "operator" ? ADMIN_KEY : token === "wrong" ? "no-such-key" : found(token, answers);
  const body = JSON.stringify(resolved(call.body, answers, startedAt));
  const authorization = `Bearer ${key}`;
  const sent = { method, headers: { ...headers, authorization }, body };
  const answer = await read(await fetch(`${url}${path}`, sent));
  const has = headersOf(answer);
  const codes = codesOf(answer);
  const misses = [
    ...(answer.status === call.status ? [] : [`status ${call.status} is ${answer.status}`]),
    ...call.answered.filter((name) => !has.includes(name)).map((name) => `no header ${name}`),
    ...(codes.join() === call.codes.join() ? [] : [`code ${call.codes.join()} is ${codes.join()}`]),
    ...call.shapes.flatMap((shape, index) => missing(shape, answer.parts[index])),
  ];
  return { misses: misses.map((miss) => `${path}: ${miss}`), parts: answer.parts };
}

describe("the recorded calls of a released client", () => {
  it("are of one release at least", () => expect(releases).not.toEqual([]));

  it.each(releases)("%s are answered as they were", async (release) => {
    const text = await readFile(new URL(release, RECORDED), "utf8");
    const { calls } = JSON.parse(text) as Recording;
    expect(calls.length).toBeGreaterThan(50);
    const server = await startServer();
    try {
      const answers: unknown[] = [];
      const misses: string[] = [];
      const replay = { url: server.url, answers, startedAt: Date.now() };
      for (const call of calls) {
        // The transactions of other tests beside it keep the last events out of sight.
        if (call.path.startsWith("/trpc/events.list")) await server.database.feedCaughtUp();
        const came = await again(call, replay);
        answers.push(came.parts);
        misses.push(...came.misses);
      }
      expect(misses).toEqual([]);
      await server.expectHealthy();
    } finally {
      await server.stop();
    }
  });
});

describe("a recorded answer", () => {
  const before = {
    id: "r",
    end: 1,
    node: null,
    parts: [{ n: 1 }, { n: 2, more: true }],
    events: [
      { type: "a", data: { x: 1 } },
      { type: "b", data: { y: "" } },
    ],
  };
  const shape: Shape = shapeOf(before);

  it("holds as it was, and with more in it", () => {
    expect(missing(shape, before)).toEqual([]);
    const events = [...before.events, { type: "c" }];
    expect(missing(shape, { ...before, node: { id: "n" }, added: [], events })).toEqual([]);
  });

  it.each([
    [
      "a field that is gone",
      { ...before, id: undefined, end: undefined },
      "answer.id was a string",
    ],
    [
      "a field of another type",
      { ...before, end: "soon" },
      "answer.end was a number and is a string",
    ],
    [
      "a field that may now be null",
      { ...before, end: null },
      "answer.end was a number and is null",
    ],
    ["a list that is none", { ...before, parts: {} }, "answer.parts was a list and is a object"],
    ["a list without its entries", { ...before, parts: [] }, "answer.parts had entries"],
    ["an entry that lacks a field", { ...before, parts: [{}] }, "answer.parts[0].n is gone"],
    [
      "an event of a type that lacks a field",
      { ...before, events: [before.events[0], { type: "b", data: {} }] },
      "answer.events[b].data.y is gone",
    ],
    [
      "no event of a type",
      { ...before, events: before.events.slice(1) },
      "of the type a and has none",
    ],
  ])("does not hold with %s", (_what, now, said) => {
    expect(missing(shape, now).join("\n")).toContain(said);
  });
});
