/**
 * Questions that come together are one statement: what a busy server spends on a call is the number of statements far
 * more than the rows in them. Nobody waits for company: a question that finds no statement under way goes at
 * once, with those that came in the same turn of the loop, and only behind another one does it gather more.
 */
import DataLoader from "dataloader";
import { UnknownOutcome, isTransient } from "./errors.ts";

export interface GatheringOptions {
  /** Statements under way at once, before the next ones gather. Default 1. */
  readonly atOnce?: number;
  /** Questions in one statement. Default 64. */
  readonly most?: number;
  /** A statement that takes longer keeps nobody else back. Default 25 ms. */
  readonly patienceMs?: number;
}

/** Answers in the order of the questions; an `Error` in the place of an answer rejects that question alone. */
export type AnswerAll<Question, Answer> = (
  questions: readonly Question[],
) => Promise<readonly (Answer | Error)[]>;

/** A question asked by itself; equal questions are asked as often as they come. */
export function gathering<Question, Answer>(
  answerAll: AnswerAll<Question, Answer>,
  options: GatheringOptions = {},
): (question: Question) => Promise<Answer> {
  const { atOnce = 1, most = 64, patienceMs = 25 } = options;
  const held: (() => void)[] = [];
  let underWay = 0;

  const next = (): void => {
    if (underWay >= atOnce) return;
    const dispatch = held.shift();
    if (!dispatch) return;
    underWay += 1;
    dispatch();
  };
  const loader = new DataLoader<Question, Answer>(
    async (questions) => {
      let counts = true;
      const over = (): void => {
        if (!counts) return;
        counts = false;
        clearTimeout(late);
        underWay -= 1;
        next();
      };
      const late = setTimeout(over, patienceMs);
      return answerEach(answerAll, questions).finally(over);
    },
    {
      cache: false,
      maxBatchSize: most,
      batchScheduleFn(dispatch) {
        // After what this turn of the loop still reads from other sockets.
        setImmediate(() => {
          held.push(dispatch);
          next();
        });
      },
    },
  );
  return (question) => loader.load(question);
}

/** A question that the database refuses takes none with it: each is asked by itself then. */
async function answerEach<Question, Answer>(
  answerAll: AnswerAll<Question, Answer>,
  questions: readonly Question[],
): Promise<readonly (Answer | Error)[]> {
  try {
    return await answerAll(questions);
  } catch (error) {
    const isOnes = !(error instanceof UnknownOutcome) && !isTransient(error);
    if (questions.length === 1 || !isOnes) throw error;
    const alone = questions.map((question) => answerAll([question]));
    return (await Promise.allSettled(alone)).map((one) =>
      one.status === "fulfilled" ? (one.value[0] as Answer | Error) : asError(one.reason),
    );
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** The same for each of several hosts, such as databases: questions of two never meet. */
export function gatheringBy<Host extends object, Question, Answer>(
  answerAll: (host: Host, questions: readonly Question[]) => Promise<readonly (Answer | Error)[]>,
  options: GatheringOptions = {},
): (host: Host, question: Question) => Promise<Answer> {
  const known = new WeakMap<Host, (question: Question) => Promise<Answer>>();
  return (host, question) => {
    let ask = known.get(host);
    if (!ask) {
      ask = gathering((questions) => answerAll(host, questions), options);
      known.set(host, ask);
    }
    return ask(question);
  };
}
