/** Runs the real linter, with the house's own configuration, over a planted violation of every ban. */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");

interface Planted {
  readonly file: string;
  readonly text: string;
  /** The rule that must fire; null when the file must be clean. */
  readonly rule: string | null;
}

const lines = (count: number): string =>
  Array.from({ length: count }, (_, i) => `  total += ${i};`).join("\n");
const UNION = `export type State = "a" | "b"; declare const state: State;`;
const LATER = `declare const later: () => Promise<void>;`;
/** Put together, so that this file itself is tidy. */
const [SILENCE, FOCUSED, SKIPPED] = [`@ts-${"ignore"}`, `it.${"only"}`, `it.${"skip"}`];
const SQL = `declare const sql: { begin(f: () => void): void; reserve(): void }; declare const db: { transaction(f: () => void): void };`;

const PLANTED: Readonly<Record<string, Planted>> = {
  "an explicit any": {
    file: "packages/engine/src/a1.ts",
    text: `export const a: any = 1;`,
    rule: "no-explicit-any",
  },
  "as any": {
    file: "packages/engine/src/a2.ts",
    text: `export const a = (1 as any) as string;`,
    rule: "no-explicit-any",
  },
  "a promise left floating": {
    file: "packages/engine/src/a3.ts",
    text: `${LATER} export function f(): void { later(); }`,
    rule: "no-floating-promises",
  },
  "a promise as a condition": {
    file: "packages/engine/src/a4.ts",
    text: `${LATER} export const f = (): number => (later() ? 1 : 2);`,
    rule: "no-misused-promises",
  },
  "a switch that forgets a member": {
    file: "packages/engine/src/a5.ts",
    text: `${UNION} export function f(): number { switch (state) { case "a": return 1; } return 0; }`,
    rule: "switch-exhaustiveness-check",
  },
  "four parameters": {
    file: "packages/engine/src/a6.ts",
    text: `export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;`,
    rule: "max-params",
  },
  "a function of 71 lines": {
    file: "packages/engine/src/a7.ts",
    text: `export function f(): number {\n  let total = 0;\n${lines(67)}\n  return total;\n}`.replace(
      "  return",
      "  total += 1;\n  return",
    ),
    rule: "max-lines-per-function",
  },
  "a file of 401 lines": {
    file: "packages/engine/src/a8.ts",
    text: `${"export {};\n".repeat(401)}`,
    rule: "max-lines",
  },
  "a file name that is not kebab-case": {
    file: "packages/engine/src/BadName.ts",
    text: `export const a = 1;`,
    rule: "filename-case",
  },
  "a default export": {
    file: "packages/engine/src/a9.ts",
    text: `export default 1;`,
    rule: "no-default-export",
  },
  "console in a package": {
    file: "packages/engine/src/a10.ts",
    text: `console.log(1);`,
    rule: "no-console",
  },
  "process.env in a package": {
    file: "packages/db/src/a1.ts",
    text: `export const a = process.env["DATABASE_URL"];`,
    rule: "no-process-env",
  },
  "process.env in the server outside config.ts": {
    file: "apps/server/src/a1.ts",
    text: `export const a = process.env["PORT"];`,
    rule: "no-process-env",
  },
  "sql.begin": {
    file: "packages/db/src/a2.ts",
    text: `${SQL} sql.begin(() => undefined);`,
    rule: "no-restricted-properties",
  },
  "db.transaction": {
    file: "packages/api/src/a1.ts",
    text: `${SQL} db.transaction(() => undefined);`,
    rule: "no-restricted-properties",
  },
  "sql.reserve": {
    file: "packages/engine/src/a11.ts",
    text: `${SQL} sql.reserve();`,
    rule: "no-restricted-properties",
  },
  "sql.begin taken apart": {
    file: "packages/engine/src/a12.ts",
    text: `${SQL} const { begin } = sql; begin(() => undefined);`,
    rule: "no-restricted-properties",
  },
  "a loose comparison": {
    file: "packages/engine/src/a13.ts",
    text: `export const f = (a: number, b: number): boolean => a == b;`,
    rule: "eqeqeq",
  },
  "a type imported as a value": {
    file: "packages/engine/src/a14.ts",
    text: `import { Q } from "./types.ts"; export const q: Q = 1;`,
    rule: "consistent-type-imports",
  },
  "an import cycle": {
    file: "packages/engine/src/cycle-a.ts",
    text: `import { b } from "./cycle-b.ts"; export const a = (): number => b();`,
    rule: "no-cycle",
  },
  "a silenced type error": {
    file: "packages/engine/src/a15.ts",
    text: `// ${SILENCE}\nexport const a: string = 1;`,
    rule: "ban-ts-comment",
  },
  "a directive that silences nothing": {
    file: "packages/engine/src/a16.ts",
    text: `// oxlint-disable-next-line no-console\nexport const a = 1;`,
    rule: "Unused oxlint-disable",
  },
  "a focused test": {
    file: "packages/engine/src/a.test.ts",
    text: `import { it } from "vitest"; ${FOCUSED}("runs", () => undefined);`,
    rule: "no-focused-tests",
  },
  "a skipped test": {
    file: "packages/engine/src/b.test.ts",
    text: `import { it } from "vitest"; ${SKIPPED}("runs", () => undefined);`,
    rule: "no-disabled-tests",
  },
  "the domain importing a room": {
    file: "packages/domain/src/a1.ts",
    text: `import { x } from "@berth/contract"; export const y = x;`,
    rule: "no-restricted-imports",
  },
  "the domain importing Node": {
    file: "packages/domain/src/deep/a2.ts",
    text: `import { readFileSync } from "node:fs"; export const y = readFileSync;`,
    rule: "no-restricted-imports",
  },
  "Date in the domain": {
    file: "packages/domain/src/a3.ts",
    text: `export const now = (): number => Date.now();`,
    rule: "no-restricted-globals",
  },
  "a timer in the domain": {
    file: "packages/domain/src/a4.ts",
    text: `setTimeout(() => undefined, 1);`,
    rule: "no-restricted-globals",
  },
  "Math.random in the domain": {
    file: "packages/domain/src/a5.ts",
    text: `export const r = (): number => Math.random();`,
    rule: "no-restricted-properties",
  },
  "the contract importing the database": {
    file: "packages/contract/src/a1.ts",
    text: `import type { Row } from "@berth/db"; export type R = Row;`,
    rule: "no-restricted-imports",
  },
  "the database taking a value of the domain": {
    file: "packages/db/src/a3.ts",
    text: `import { SCALARS } from "@berth/domain"; export const s = SCALARS;`,
    rule: "no-restricted-imports",
  },
  "the database importing the engine": {
    file: "packages/db/src/a4.ts",
    text: `import type { Engine } from "@berth/engine"; export type E = Engine;`,
    rule: "no-restricted-imports",
  },
  "the engine taking a value of the database": {
    file: "packages/engine/src/a17.ts",
    text: `import { openDatabase } from "@berth/db"; export const o = openDatabase;`,
    rule: "no-restricted-imports",
  },
  "the engine importing the contract": {
    file: "packages/engine/src/a18.ts",
    text: `import { contract } from "@berth/contract"; export const o = contract;`,
    rule: "no-restricted-imports",
  },
  "the API importing the client": {
    file: "packages/api/src/a2.ts",
    text: `import { createBerth } from "@berth/client"; export const o = createBerth;`,
    rule: "no-restricted-imports",
  },
  "the client importing a schema": {
    file: "packages/client/src/a1.ts",
    text: `import { z } from "zod"; export const o = z;`,
    rule: "no-restricted-imports",
  },
  "the client importing a room": {
    file: "packages/client/src/a2.ts",
    text: `import type { Pool } from "@berth/contract"; export type P = Pool;`,
    rule: "no-restricted-imports",
  },
  "the server importing the domain": {
    file: "apps/server/src/a2.ts",
    text: `import { place } from "@berth/domain"; export const p = place;`,
    rule: "no-restricted-imports",
  },
  "the server importing the client": {
    file: "apps/server/src/http/a3.ts",
    text: `import { createBerth } from "@berth/client"; export const p = createBerth;`,
    rule: "no-restricted-imports",
  },

  "the other half of the cycle": {
    file: "packages/engine/src/cycle-b.ts",
    text: `import { a } from "./cycle-a.ts"; export const b = (): number => a();`,
    rule: "no-cycle",
  },
  "process.env in config.ts": {
    file: "apps/server/src/config.ts",
    text: `export const a = process.env["PORT"];`,
    rule: null,
  },
  "a reserved connection in the slot pool": {
    file: "packages/db/src/slot-pool.ts",
    text: `declare const sql: { reserve(): void }; sql.reserve();`,
    rule: null,
  },
  "console in a tool": {
    file: "packages/tools/src/a1.ts",
    text: `console.log(process.env["CI"]);`,
    rule: null,
  },
  "types of the domain in the database": {
    file: "packages/db/src/a5.ts",
    text: `import type { Scalar } from "@berth/domain"; export type S = Scalar;`,
    rule: null,
  },
  "relative imports in the domain": {
    file: "packages/domain/src/deep/a3.ts",
    text: `import { now } from "../a3.ts"; export const n = now;`,
    rule: null,
  },
  "the client in the demo": {
    file: "apps/server/src/demo/main.ts",
    text: `import { createBerth } from "@berth/client"; export const p = createBerth;`,
    rule: null,
  },
  "types to import": {
    file: "packages/engine/src/types.ts",
    text: `export type Q = number;`,
    rule: null,
  },
  "the console taking a schema": {
    file: "apps/console/src/k1.ts",
    text: `import { catalog } from "@berth/contract"; export const k = catalog;`,
    rule: "no-restricted-imports",
  },
  "the console taking what Node has": {
    file: "apps/console/src/k2.ts",
    text: `import { join } from "node:path"; export const k = join;`,
    rule: "no-restricted-imports",
  },
  "the console taking the client": {
    file: "apps/console/src/k3.ts",
    text: `import { gpus } from "@berth/client"; import { createBerthQueries } from "@berth/client/react"; export const k = [gpus, createBerthQueries];`,
    rule: null,
  },
  "a hook that is called now and then": {
    file: "apps/console/src/k4.tsx",
    text: `import { useState } from "react"; export function K({ on }: { on: boolean }): number { if (on) { const [k] = useState(1); return k; } return 0; }`,
    rule: "rules-of-hooks",
  },
  "an effect that forgets what it depends on": {
    file: "apps/console/src/k5.tsx",
    text: `import { useEffect } from "react"; export function K({ k }: { k: string }): null { useEffect(() => { document.title = k; }, []); return null; }`,
    rule: "exhaustive-deps",
  },
};

interface Diagnostic {
  readonly code?: string;
  readonly message: string;
  readonly filename: string;
}

const folder = mkdtempSync(path.join(tmpdir(), "lint-"));
let diagnostics: readonly Diagnostic[] = [];

/** Only the planted folders: a linter that follows the link to node_modules would read all of it. */
function lint(): readonly Diagnostic[] {
  const bin = path.join(ROOT, "node_modules/oxlint/bin/oxlint");
  const env = {
    ...process.env,
    PATH: `${path.join(ROOT, "node_modules/.bin")}${path.delimiter}${process.env["PATH"]}`,
  };
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 60_000,
    stdio: ["ignore", "pipe", "pipe"],
  };
  try {
    execFileSync(process.execPath, [bin, "--format", "json", "packages", "apps"], options);
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout?.startsWith("{") === true)
      return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
    throw error;
  }
  return [];
}

beforeAll(() => {
  copyFileSync(path.join(ROOT, ".oxlintrc.json"), path.join(folder, ".oxlintrc.json"));
  const compilerOptions = {
    target: "esnext",
    module: "nodenext",
    strict: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["packages", "apps"] }),
  );
  for (const { file, text } of Object.values(PLANTED)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), `${text}\n`);
  }
  diagnostics = lint();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("lint", () => {
  it.each(Object.entries(PLANTED).filter(([, p]) => p.rule !== null))(
    "refuses %s",
    (_title, planted) => {
      const found = diagnostics.filter((d) => d.filename === planted.file);
      expect(found.map((d) => `${d.code ?? ""} ${d.message}`).join("\n")).toContain(planted.rule);
    },
  );

  it.each(Object.entries(PLANTED).filter(([, p]) => p.rule === null))(
    "accepts %s",
    (_title, planted) => {
      expect(diagnostics.filter((d) => d.filename === planted.file)).toEqual([]);
    },
  );
});
