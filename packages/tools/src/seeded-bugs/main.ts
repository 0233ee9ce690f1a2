/**
 * The test of the tests: plants one bug after the other in a copy of the tree and demands that its suite
 * turns red for the right reason, and that it is green without it. Arguments pick bugs by words of their
 * names.
 */
import path from "node:path";
import { BUGS, type SeededBug, type Suite } from "./bugs.ts";
import { copyTree, plant } from "./copy.ts";
import { type Outcome, runSuites } from "./run-suite.ts";

interface Row {
  readonly bug: string;
  readonly suite: string;
  readonly seconds: number;
  readonly caught: boolean;
  readonly says: string;
}

const AT_ONCE = 2;
/** A red run that says this has seen no bug. */
const NO_REASON = /SyntaxError|Cannot find|timed out|ERR_MODULE/;
const root = path.resolve(import.meta.dirname, "../../../..");
const words = process.argv.slice(2);
const bugs = BUGS.filter(({ name }) => words.length === 0 || words.some((w) => name.includes(w)));

async function tryOut(bug: SeededBug): Promise<Row> {
  using copy = copyTree(root);
  plant(copy, bug);
  const outcome = await runSuites(copy.root, [bug.suite]);
  return { bug: bug.name, ...judge(bug, outcome), seconds: outcome.seconds };
}

function judge(
  { suite, expect }: SeededBug,
  { failures, broken }: Outcome,
): Omit<Row, "bug" | "seconds"> {
  const told = { suite: suite.file };
  if (broken !== null) return { ...told, caught: false, says: `could not run: ${broken}` };
  const [first] = failures;
  if (!first) return { ...told, caught: false, says: "stayed green" };
  const right = failures.find(
    ({ test, message }) => expect.test(`${test}\n${message}`) && !NO_REASON.test(message),
  );
  if (!right) return { ...told, caught: false, says: `red for another reason: ${first.message}` };
  const [line = ""] = right.message.split("\n");
  return { ...told, caught: true, says: `${right.test}: ${line}` };
}

/** Every suite on the sources as they are. */
async function unharmed(suites: readonly Suite[]): Promise<Row> {
  using copy = copyTree(root);
  const { passed, failures, broken, seconds } = await runSuites(copy.root, suites);
  const green = broken === null && failures.length === 0 && passed > 0;
  const says = green ? `${passed} tests green` : (broken ?? failures[0]?.message ?? "no test ran");
  return { bug: "(none)", suite: "all of these", seconds, caught: green, says };
}

const rows: Row[] = [];
const waiting = [
  () => unharmed(bugs.map(({ suite }) => suite)),
  ...bugs.map((bug) => () => tryOut(bug)),
];
const lane = async (): Promise<void> => {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const row = await next();
    rows.push(row);
    const { bug, suite, seconds, caught, says } = row;
    console.log(
      `${caught ? "ok " : "NOT"} ${bug.padEnd(58)} ${suite.padEnd(54)} ${seconds.toFixed(1).padStart(6)} s  ${caught ? says.slice(0, 160) : says.slice(0, 3_000)}`,
    );
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, lane));
const failed = rows.filter(({ caught }) => !caught).length;
console.log(`\n${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && bugs.length > 0 ? 0 : 1;
