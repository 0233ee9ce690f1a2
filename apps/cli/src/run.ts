/** One call of `berth`, from its arguments to its status. */
import { CommanderError } from "commander";
import { EXIT, Quit } from "./exit.ts";
import { type Io, say } from "./io.ts";
import { type Parsed, createProgram, perform } from "./program.ts";
import { isOperators } from "./specs/index.ts";

/** Never throws; everything that is to be said has been said. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const args = asOption(argv);
  let url: string | null = null;
  try {
    const name = args.find((arg) => !arg.startsWith("-"));
    if (name !== undefined && isOperators(name)) return await operate(args, io, name);
    let parsed: Parsed | undefined;
    const berth = createProgram(io, (found) => (parsed = found));
    // Only the list of all commands waits for the operators'.
    if (name === undefined) await withOperators(berth);
    await berth.parseAsync(args, { from: "user" });
    const onServer = (at: string): void => void (url = at);
    return (parsed && (await perform(parsed, { io, argv: args, onServer }))) ?? EXIT.ok;
  } catch (error) {
    return await end(error, io, url);
  }
}

/** `help book` as `book --help`. */
function asOption(argv: readonly string[]): readonly string[] {
  if (argv[0] === "help") return [...argv.slice(1), "--help"];
  return argv.length === 0 ? ["--help"] : argv;
}

async function withOperators(berth: ReturnType<typeof createProgram>): Promise<void> {
  const { loadOperators } = await import("./operators.ts");
  berth.commandsGroup("For operators:");
  (await loadOperators())?.addOperatorCommands(berth);
}

/** The operators' commands write to the process's own streams and end in their own words. */
async function operate(args: readonly string[], io: Io, name: string): Promise<number> {
  const { addOperators } = await import("./operators.ts");
  const berth = createProgram(io, () => undefined);
  const signIn = () => signInOf(io);
  const { operatorEnding } = await addOperators(berth, { name, signIn });
  try {
    await berth.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError || error instanceof Quit) throw error;
    const { status, line } = await operatorEnding(error);
    if (line !== null) say(io, `berth: ${line}`);
    return status;
  }
}

/** Says where it goes when nothing that was typed does. */
async function signInOf(io: Io) {
  const { signedIn } = await import("./session.ts");
  const login = await signedIn(io);
  if (login && !io.env["BERTH_URL"]) say(io, `on ${login.url}, as berth login keeps it`);
  return login;
}

async function end(error: unknown, io: Io, url: string | null): Promise<number> {
  if (error instanceof CommanderError) return statusOf(error);
  const { status, lines } =
    error instanceof Quit ? error : (await import("./failure.ts")).failureOf(error, url);
  const [first, ...more] = lines;
  if (first !== undefined) say(io, [`berth: ${first}`, ...more].join("\n"));
  return status;
}

/** The parser has said everything. */
const statusOf = ({ exitCode }: CommanderError): number => (exitCode === 0 ? EXIT.ok : EXIT.usage);
