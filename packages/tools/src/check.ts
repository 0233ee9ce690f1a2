/**
 * `pnpm check [step…]`: everything that is decided without running the tests. All steps run, one after the
 * other, so one failure does not hide the next; only a failing step shows its output. Exit 1 if any failed.
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";

interface Step {
  readonly name: string;
  readonly what: string;
  /** Commands in order; the step fails with the first that does. */
  readonly commands: readonly (readonly [string, ...string[]])[];
}

const ROOT = path.resolve(import.meta.dirname, "../../..");
const TOOLS = "packages/tools/src";
/** A step that hangs must not hang the check. */
const STEP_MS = 180_000;

/** Rooms that narrow the root's program: the domain without Node, the client with isolated declarations. */
const narrowed = globSync("{packages,apps}/*/tsconfig.json", { cwd: ROOT }).sort();

const STEPS: readonly Step[] = [
  { name: "lint", what: "oxlint with types", commands: [["oxlint"]] },
  { name: "format", what: "oxfmt", commands: [["oxfmt", "--check", "."]] },
  {
    name: "types",
    what: `tsc, the whole house and ${narrowed.length} narrowed rooms`,
    commands: ["tsconfig.json", ...narrowed].map(
      (project) => ["tsc", "--noEmit", "-p", project] as const,
    ),
  },
  { name: "dead", what: "knip: unused files, exports, dependencies", commands: [["knip"]] },
  {
    name: "boundaries",
    what: "who may import what",
    commands: [["node", `${TOOLS}/boundaries.ts`]],
  },
  {
    name: "tidy",
    what: "sizes, leftovers, machine paths",
    commands: [["node", `${TOOLS}/tidy.ts`]],
  },
  {
    name: "generated",
    what: "generated files are current",
    commands: [["node", `${TOOLS}/generate.ts`, "--check"]],
  },
  {
    name: "openapi",
    what: "Spectral, OWASP and Redocly; no break since the last release",
    commands: [["node", `${TOOLS}/openapi/main.ts`]],
  },
  {
    name: "lockfile",
    what: "one registry, every hash, nobody's scripts",
    commands: [["node", `${TOOLS}/supply-chain.ts`, "lockfile"]],
  },
  {
    name: "advisories",
    what: "nothing older than its last known fault",
    commands: [["node", `${TOOLS}/supply-chain.ts`, "advisories"]],
  },
  {
    name: "schema",
    what: "migrations and schema.sql are current",
    commands: [["node", `${TOOLS}/drift.ts`]],
  },
];

interface Ended {
  readonly ok: boolean;
  readonly output: string;
}

function run([command, ...args]: readonly [string, ...string[]]): Promise<Ended> {
  const bin = path.join(ROOT, "node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env["PATH"] ?? ""}` };
  const child = spawn(command, args, {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    timeout: STEP_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ ok: false, output: `${command}: ${error.message}\n` }));
    child.on("close", (code, signal) => {
      const late =
        signal === null ? "" : `${command} ended by ${signal} (limit ${STEP_MS / 1000} s)\n`;
      resolve({ ok: code === 0, output: stripVTControlCharacters(output) + late });
    });
  });
}

async function runStep(step: Step): Promise<boolean> {
  const started = performance.now();
  let last: Ended = { ok: true, output: "" };
  for (const command of step.commands) {
    last = await run(command);
    if (!last.ok) break;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  process.stdout.write(
    `${last.ok ? "ok    " : "FAILED"} ${step.name.padEnd(11)}${seconds} s  ${step.what}\n`,
  );
  if (!last.ok) process.stdout.write(`${last.output.trimEnd().replaceAll(/^/gm, "    ")}\n`);
  return last.ok;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `No step ${unknown.join(", ")}; there are ${STEPS.map((s) => s.name).join(", ")}.\n`,
  );
  process.exit(2);
}
let failed = 0;
const steps = STEPS.filter((step) => wanted.length === 0 || wanted.includes(step.name));
for (const step of steps) if (!(await runStep(step))) failed += 1;
process.stdout.write(`\n${steps.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
