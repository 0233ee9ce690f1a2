import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkBoundaries } from "./boundaries.ts";

/** A house in small that keeps every rule; each case below breaks exactly one. */
const HOUSE: Readonly<Record<string, string>> = {
  "packages/domain/package.json": manifest("@berth/domain", {}, ["vitest"]),
  "packages/domain/src/index.ts": `export const SCALARS = ["vcpu"]; export type Scalar = "vcpu"; export { place } from "./place.ts";`,
  "packages/domain/src/place.ts": `export function place(): number { return 1; }`,
  "packages/domain/src/testing/index.ts": `import { place } from "../place.ts"; export const built = place();`,
  "packages/domain/src/place.test.ts": `import { it } from "vitest"; import { built } from "./testing/index.ts"; it("is", () => built);`,
  "packages/contract/package.json": manifest("@berth/contract", ["@berth/domain", "zod"]),
  "packages/contract/src/index.ts": `import { type Scalar, SCALARS, idPattern } from "@berth/domain"; import { z } from "zod"; export const s: [Scalar[], unknown] = [SCALARS, z, idPattern];`,
  "packages/db/package.json": manifest("@berth/db", ["@berth/domain", "postgres"]),
  "packages/db/src/index.ts": `import type { Scalar } from "@berth/domain"; export type Row = import("@berth/domain").Scalar | Scalar;`,
  "packages/engine/package.json": manifest("@berth/engine", ["@berth/domain", "@berth/db"]),
  "packages/engine/src/index.ts": `import { type Row } from "@berth/db"; import { place } from "@berth/domain"; export const run = (): Row => place();`,
  "packages/api/package.json": manifest(
    "@berth/api",
    ["@berth/contract", "@berth/db", "@berth/domain", "@berth/engine", "@trpc/server"],
    ["vitest"],
  ),
  "packages/api/src/trpc.ts": `import { initTRPC } from "@trpc/server"; export const t = initTRPC;`,
  "packages/api/src/root.ts": `import { router } from "./groups/capacity/router.ts"; export const root = router;`,
  "packages/api/src/read.ts": `export const read = (engine: { read(): number }): number => engine.read();`,
  "packages/api/src/write.ts": `export const write = (engine: { submit(): void }): void => engine.submit();`,
  "packages/api/src/groups/capacity/router.ts": `import { preview } from "./preview.ts"; export const router = { preview };`,
  "packages/api/src/groups/capacity/preview.ts": `import { read } from "../../read.ts"; import { rows } from "./store.ts"; import type { write } from "../../write.ts"; export const preview = (w: typeof write) => [read, rows, w];`,
  "packages/api/src/groups/capacity/store.ts": `import type { Row } from "@berth/db"; export const rows: Row[] = [];`,
  "packages/api/src/groups/pools/get.ts": `import { write } from "../../write.ts"; export const get = write;`,
  "packages/client/package.json": manifest("@berth/client", ["@trpc/client"]),
  "packages/client/src/index.ts": `import { createTRPCClient } from "@trpc/client"; export const c = createTRPCClient;`,
  "apps/server/package.json": manifest("@berth/server", [
    "@berth/api",
    "@berth/client",
    "@berth/db",
    "fastify",
  ]),
  "apps/server/src/http.ts": `import { root } from "@berth/api"; import fastify from "fastify"; export const app = [root, fastify];`,
  "apps/server/src/demo/main.ts": `import { c } from "@berth/client"; export const demo = c;`,
  "apps/server/src/commands/program.ts": `export const add = 1;`,
  "apps/cli/package.json": manifest("@berth/cli", ["@berth/client", "@berth/server"]),
  "apps/cli/src/book.ts": `import { c } from "@berth/client"; export const book = c;`,
  "apps/cli/src/operators.ts": `export const load = () => import("@berth/server/commands");`,
  "apps/server/src/doctor/run.ts": `import { count } from "./count.ts"; export const doctor = count;`,
  "apps/server/src/doctor/count.ts": `import { openDatabase } from "@berth/db"; export const count = openDatabase;`,
};

type Names = readonly string[] | Readonly<Record<string, never>>;

function manifest(name: string, dependencies: Names, devDependencies: Names = []): string {
  const record = (names: Names): Record<string, string> =>
    Object.fromEntries(
      Array.isArray(names)
        ? names.map((n) => [n, n.startsWith("@berth/") ? "workspace:*" : "catalog:"])
        : [],
    );
  return JSON.stringify({
    name,
    dependencies: record(dependencies),
    devDependencies: record(devDependencies),
  });
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function check(planted: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(path.join(tmpdir(), "boundaries-"));
  folders.push(root);
  for (const [file, text] of Object.entries({ ...HOUSE, ...planted })) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return checkBoundaries(root).findings.map((f) => `${f.file}:${f.line} ${f.message}`);
}

/** File to plant, its text, and what the one finding must say. */
const VIOLATIONS: readonly (readonly [title: string, file: string, text: string, says: RegExp])[] =
  [
    ["a room without a row", "apps/new/package.json", manifest("@berth/new", []), /no row/],
    [
      "domain importing a room",
      "packages/domain/src/bad.ts",
      `import "@berth/db";`,
      /packages\/domain may not import @berth\/db/,
    ],
    [
      "domain importing a library",
      "packages/domain/src/bad.ts",
      `import type { ZodType } from "zod"; export type Z = ZodType;`,
      /the domain imports only itself/,
    ],
    [
      "domain importing Node",
      "packages/domain/src/bad.ts",
      `import "node:fs";`,
      /the domain imports only itself/,
    ],
    [
      "a dynamic import in the domain",
      "packages/domain/src/bad.ts",
      `export const late = () => import("node:fs");`,
      /the domain imports only itself/,
    ],
    [
      "a dependency of the domain",
      "packages/domain/package.json",
      manifest("@berth/domain", ["zod"], ["vitest"]),
      /the domain has no dependencies/,
    ],
    [
      "a domain test importing a room",
      "packages/domain/src/bad.test.ts",
      `import type { Row } from "@berth/db"; export type R = Row;`,
      /packages\/domain may not import/,
    ],
    [
      "a house devDependency of a room that stands alone",
      "packages/client/package.json",
      manifest("@berth/client", ["@trpc/client"], ["@berth/contract"]),
      /stands alone/,
    ],
    [
      "contract taking a function of the domain",
      "packages/contract/src/bad.ts",
      `import { place } from "@berth/domain"; export const p = place;`,
      /only types and constants.*place/,
    ],
    [
      "contract taking the whole domain",
      "packages/contract/src/bad.ts",
      `export * from "@berth/domain";`,
      /only types and constants.*\*/,
    ],
    [
      "contract importing db, types too",
      "packages/contract/src/bad.ts",
      `import type { Row } from "@berth/db"; export type R = Row;`,
      /may not import @berth\/db/,
    ],
    [
      "db taking a value of the domain",
      "packages/db/src/bad.ts",
      `\nimport { SCALARS } from "@berth/domain"; export const s = SCALARS;`,
      /bad.ts:2 .*only types from @berth\/domain/,
    ],
    [
      "db importing the engine",
      "packages/db/src/bad.ts",
      `import type { run } from "@berth/engine"; export type R = typeof run;`,
      /may not import @berth\/engine/,
    ],
    [
      "engine taking a value of db",
      "packages/engine/src/bad.ts",
      `import { createPoolStore } from "@berth/db"; export const c = createPoolStore;`,
      /only types from @berth\/db/,
    ],
    [
      "engine importing the contract",
      "packages/engine/src/bad.ts",
      `import { s } from "@berth/contract"; export const c = s;`,
      /may not import @berth\/contract/,
    ],
    [
      "api importing the client",
      "packages/api/src/bad.ts",
      `import { c } from "@berth/client"; export const d = c;`,
      /may not import @berth\/client/,
    ],
    [
      "client importing the contract, types too",
      "packages/client/src/bad.ts",
      `export type { s } from "@berth/contract";`,
      /may not import @berth\/contract/,
    ],
    ["client importing Node", "packages/client/src/bad.ts", `import "node:crypto";`, /browsers/],
    [
      "server importing the domain",
      "apps/server/src/bad.ts",
      `import { place } from "@berth/domain"; export const p = place;`,
      /may not import @berth\/domain/,
    ],
    [
      "server importing the client outside the demo",
      "apps/server/src/bad.ts",
      `import { c } from "@berth/client"; export const d = c;`,
      /may not import @berth\/client/,
    ],
    [
      "a command for people importing the server",
      "apps/cli/src/bad.ts",
      `export const load = () => import("@berth/server/commands");`,
      /apps\/cli may not import @berth\/server/,
    ],
    [
      "a command for people importing the contract",
      "apps/cli/src/bad.ts",
      `import { s } from "@berth/contract"; export const c = s;`,
      /apps\/cli may not import @berth\/contract/,
    ],
    [
      "the operators' part taking another door",
      "apps/cli/src/operators.ts",
      `export const load = () => import("@berth/server/serve");`,
      /only @berth\/server and @berth\/server\/testing and @berth\/server\/commands are public/,
    ],
    [
      "a dependency that the matrix forbids",
      "packages/engine/package.json",
      manifest("@berth/engine", ["@berth/domain", "@berth/db", "@berth/api"]),
      /may not depend on @berth\/api/,
    ],
    [
      "a version outside the catalog",
      "packages/contract/package.json",
      manifest("@berth/contract", ["@berth/domain", "zod"], ["vitest"]).replace(
        `"vitest":"catalog:"`,
        `"vitest":"5.0.0"`,
      ),
      /vitest is named twice: put its version in the catalog/,
    ],
    [
      "an undeclared package",
      "packages/db/src/bad.ts",
      `import pg from "pg"; export const p = pg;`,
      /pg is not in packages\/db\/package.json/,
    ],
    [
      "an undeclared room",
      "apps/server/src/bad.ts",
      `import { run } from "@berth/engine"; export const r = run;`,
      /@berth\/engine is not in/,
    ],
    [
      "shipping a devDependency",
      "packages/api/src/bad.ts",
      `import { it } from "vitest"; export const i = it;`,
      /vitest is a devDependency/,
    ],
    [
      "a relative path out of the room",
      "packages/api/src/bad.ts",
      `import { place } from "../../domain/src/place.ts"; export const p = place;`,
      /leaves packages\/api/,
    ],
    [
      "a path inside another package",
      "packages/api/src/bad.ts",
      `import { place } from "@berth/domain/src/place.ts"; export const p = place;`,
      /are public/,
    ],
    [
      "a testing export in what ships",
      "packages/api/src/bad.ts",
      `import { built } from "@berth/domain/testing"; export const b = built;`,
      /for tests only/,
    ],
    [
      "testing code in what ships",
      "packages/domain/src/bad.ts",
      `import { built } from "./testing/index.ts"; export const b = built;`,
      /for tests only/,
    ],
    [
      "a package importing itself by name",
      "packages/engine/src/bad.ts",
      `import { run } from "@berth/engine"; export const r = run;`,
      /imports itself/,
    ],
    [
      "tRPC set up twice",
      "packages/api/src/bad.ts",
      `import { initTRPC } from "@trpc/server"; export const t = initTRPC;`,
      /sets tRPC up/,
    ],
    [
      "a router imported by a method",
      "packages/api/src/groups/pools/bad.ts",
      `import { router } from "../capacity/router.ts"; export const r = router;`,
      /only the root collects routers/,
    ],
    [
      "another group's store",
      "packages/api/src/groups/pools/bad.ts",
      `import { rows } from "../capacity/store.ts"; export const r = rows;`,
      /a group's store is its own/,
    ],
    [
      "preview submitting",
      "packages/api/src/groups/capacity/preview.ts",
      `export const preview = (e: { submit(): void }) => e.submit();`,
      /reaches `submit`.*a question never books/,
    ],
    [
      "preview reaching a booking in two hops",
      "packages/api/src/read.ts",
      `export { write as read } from "./write.ts";`,
      /preview.ts:1 reaches `submit` by .*read.ts → .*write.ts/,
    ],
    [
      "preview taking submit apart",
      "packages/api/src/read.ts",
      `export const read = ({ submit }: { submit: unknown }) => submit;`,
      /reaches `submit`/,
    ],
    [
      "the doctor reaching the engine",
      "apps/server/src/doctor/count.ts",
      `import { root } from "@berth/api"; export const count = root;`,
      /doctor\/run.ts:1 reaches @berth\/api/,
    ],
    ["a file that does not parse", "packages/db/src/bad.ts", `export const = ;`, /does not parse/],
  ];

describe("import boundaries", () => {
  it("pass over a house that keeps every rule", () => {
    expect(check({})).toEqual([]);
  });

  it("refuse to be green over nothing", () => {
    const root = mkdtempSync(path.join(tmpdir(), "boundaries-"));
    folders.push(root);
    expect(checkBoundaries(root).findings).toHaveLength(1);
  });

  it.each(VIOLATIONS)("report %s", (_title, file, text, says) => {
    const found = check({ [file]: text });
    expect(found.join("\n")).toMatch(says);
  });

  it("report nothing beside the planted violation", () => {
    const counts = VIOLATIONS.map(([title, file, text]) => [title, check({ [file]: text }).length]);
    // The doctor's two files are both starting points, so one bad import shows twice.
    expect(counts.filter(([, n]) => n !== 1)).toEqual([["the doctor reaching the engine", 2]]);
  });
});
