/** Variables of the shell that a script uses before it has given them a value. */
import { type Command, type SyntaxNode, forEachChild, parse } from "unbash";

export interface Script {
  readonly code: string;
}

export interface Unset<S extends Script> {
  /** With its dollar: `$id`. */
  readonly name: string;
  readonly script: S;
}

/** Commands whose words are names of variables. */
const DECLARING: ReadonlySet<string> = new Set(["export", "read", "local", "readonly"]);

/**
 * @param scripts in order: a later one has the variables of those before it
 * @throws Error for a script that is none
 */
export function unsetIn<S extends Script>(scripts: readonly S[]): Unset<S>[] {
  const set = new Set<string>();
  return scripts.flatMap((script) => {
    const { errors, ...ast } = parse(script.code);
    if (errors?.length) throw new Error(`${errors[0]?.message}, in the script\n${script.code}`);
    return [...usesIn(ast, set)].map((name) => ({ name: `$${name}`, script }));
  });
}

/** In the order of the script; what it sets on the way is added to `set`. */
function usesIn(ast: SyntaxNode, set: Set<string>): Set<string> {
  const uses = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    if (node.type === "For") set.add(node.name.value);
    const used = usedBy(node);
    if (used !== undefined && !set.has(used)) uses.add(used);
    forEachChild(node, visit);
    if (node.type === "Command") for (const name of setBy(node)) set.add(name);
  };
  visit(ast);
  return uses;
}

/** Undefined as well for what the shell sets: `$1`, `$?`, `$@`. */
function usedBy(node: SyntaxNode): string | undefined {
  if (node.type !== "SimpleExpansion" && node.type !== "ParameterExpansion") return undefined;
  const name = node.type === "SimpleExpansion" ? node.text.slice(1) : node.parameter;
  return /^[A-Za-z_]\w*$/.test(name) ? name : undefined;
}

/** `a=1` before a command is for that command alone. */
function setBy({ name, prefix, args }: Command): string[] {
  if (name === undefined)
    return prefix.flatMap((part) => (part.type === "Assignment" ? [part.name] : []));
  if (!DECLARING.has(name.value)) return [];
  return args.map((arg) => (arg.type === "Assignment" ? arg.name : arg.value));
}
