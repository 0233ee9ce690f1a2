import { afterEach, expect, test, vi } from "vitest";
import { ConnectionLost } from "./errors.ts";
import { gathering, gatheringBy } from "./gathering.ts";

afterEach(() => vi.useRealTimers());

/** Statements that end when the test says so. */
function statements() {
  const sent: { questions: readonly number[]; end(): void }[] = [];
  const send = (questions: readonly number[]): Promise<number[]> => {
    const { promise, resolve } = Promise.withResolvers<number[]>();
    sent.push({ questions, end: () => resolve(questions.map((n) => n * 10)) });
    return promise;
  };
  return { sent, send };
}

/** When what was asked so far has been sent. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("questions of one turn are one statement, and each gets its own answer", async () => {
  const { sent, send } = statements();
  const ask = gathering(send);
  const answers = Promise.all([ask(1), ask(2), ask(1)]);
  await turn();
  expect(sent.map(({ questions }) => questions)).toEqual([[1, 2, 1]]);
  sent[0]?.end();
  expect(await answers).toEqual([10, 20, 10]);
});

test("behind as many statements as may be under way, questions gather until one of them ends", async () => {
  const { sent, send } = statements();
  const ask = gathering(send, { atOnce: 1, patienceMs: 60_000 });
  const first = ask(1);
  await turn();
  const late = [ask(2)];
  await turn();
  late.push(ask(3));
  await turn();
  expect(sent.map(({ questions }) => questions)).toEqual([[1]]);
  sent[0]?.end();
  await first;
  await turn();
  expect(sent.map(({ questions }) => questions)).toEqual([[1], [2, 3]]);
  sent[1]?.end();
  expect(await Promise.all(late)).toEqual([20, 30]);
});

test("a statement that takes long keeps nobody else back for longer than the patience", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { sent, send } = statements();
  const ask = gathering(send, { atOnce: 1, patienceMs: 25 });
  void ask(1);
  await turn();
  const second = ask(2);
  await turn();
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(25);
  expect(sent).toHaveLength(2);
  sent[1]?.end();
  expect(await second).toBe(20);
});

test("one that the database refuses takes none with it", async () => {
  const ask = gathering(async (questions: readonly number[]) => {
    if (questions.includes(13)) throw new Error("thirteen");
    return questions.map((n) => n + 1);
  });
  const answers = await Promise.allSettled([ask(1), ask(13), ask(2)]);
  expect(answers).toMatchObject([
    { status: "fulfilled", value: 2 },
    { status: "rejected", reason: { message: "thirteen" } },
    { status: "fulfilled", value: 3 },
  ]);
});

test("when the connection is lost nothing is asked again: there are others to say that", async () => {
  let sent = 0;
  const ask = gathering<number, number>(() => {
    sent += 1;
    return Promise.reject(new ConnectionLost());
  });
  const answers = await Promise.allSettled([ask(1), ask(2)]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(sent).toBe(1);
});

test("questions to two hosts never meet", async () => {
  const asked: [string, readonly number[]][] = [];
  const ask = gatheringBy((host: { name: string }, questions: readonly number[]) => {
    asked.push([host.name, questions]);
    return Promise.resolve([...questions]);
  });
  const [a, b] = [{ name: "a" }, { name: "b" }];
  await Promise.all([ask(a, 1), ask(b, 2), ask(a, 3)]);
  expect(Object.fromEntries(asked)).toEqual({ a: [1, 3], b: [2] });
  expect(asked).toHaveLength(2);
});
