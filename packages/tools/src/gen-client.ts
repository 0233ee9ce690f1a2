/**
 * What the client has to know of each method (packages/client/src/methods.gen.ts), and the types of what
 * `@berth/client/react` gives for each (packages/client/src/queries.gen.ts).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { API_VERSION, catalog, groups } from "@berth/contract";
import type { GroupName } from "@berth/contract";
import { MARK, doc, pascal } from "./gen-api.ts";
import type { Generated } from "./generate.ts";
import { pageOf } from "./wire-pages.ts";
import type { MethodSchema, Wire } from "./wire-schema.ts";

export function generateClient(wire: Wire): Generated[] {
  return [
    { path: "packages/client/src/methods.gen.ts", text: `${traits(wire)}\n` },
    { path: "packages/client/src/queries.gen.ts", text: `${queries(wire)}\n` },
  ];
}

const groupNames = (): GroupName[] => Object.keys(groups) as GroupName[];

function traits(wire: Wire): string {
  const lines = groupNames().map((group) => {
    const methods = wire.methods
      .filter((method) => method.group === group)
      .map((method) => `    ${method.method}: { ${traitsOf(wire, method)} },`);
    return `  ${group}: {\n${methods.join("\n")}\n  },`;
  });
  return [
    MARK,
    'import type { BerthApi } from "./api.gen.ts";',
    "",
    "/** The version of the API that this client was made for, `major.minor`. */",
    `export const API_VERSION: string = ${JSON.stringify(API_VERSION)};`,
    "",
    "/** The version of this package. */",
    `export const CLIENT_VERSION: string = ${JSON.stringify(packageVersion())};`,
    "",
    "/** What the client has to know of a method to call it and to call it again. */",
    "export interface MethodTraits {",
    '  readonly kind: "read" | "mutation" | "subscription";',
    "  /** Takes an idempotency key. */",
    "  readonly keyed?: true;",
    "  /** Answers in pages: the field that holds the entries, and the input that takes `nextCursor`. */",
    '  readonly page?: readonly [entries: string, cursor: "cursor" | "after"];',
    "}",
    "",
    "export const METHODS: {",
    "  readonly [G in keyof BerthApi]: { readonly [M in keyof BerthApi[G]]: MethodTraits };",
    `} = {\n${lines.join("\n")}\n};`,
  ].join("\n");
}

function packageVersion(): string {
  const file = join(import.meta.dirname, "../../client/package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function traitsOf(wire: Wire, method: MethodSchema): string {
  const keyed = wire.types.get(method.input)?.properties?.["idempotencyKey"] !== undefined;
  const page = pageOf(wire, method);
  return [
    `kind: "${catalog[method.name].kind}"`,
    ...(keyed ? ["keyed: true"] : []),
    ...(page ? [`page: ["${page.field}", "${page.cursor}"]`] : []),
  ].join(", ");
}

function queries(wire: Wire): string {
  const methods = wire.methods.filter(({ name }) => catalog[name].kind !== "subscription");
  const lines = methods.map((method) => [method, factory(wire, method)] as const);
  const imported = new Set(lines.flatMap(([, { types }]) => types));
  const kinds = ["BerthInfiniteQuery", "BerthMutation", "BerthQuery"];
  return [
    MARK,
    `import type { ${[...imported].toSorted().join(", ")} } from "./api.gen.ts";`,
    `import type { ${kinds.join(", ")} } from "./react.ts";`,
    "",
    ...groupNames().map((group) => {
      const of = lines.filter(([method]) => method.group === group);
      const about = `What TanStack Query needs for each method of \`${group}\`.`;
      return `${doc(about, "")}export interface ${pascal(group)}Queries {\n${of
        .map(([method, { type }]) => `${about_(method)}  ${method.method}: ${type};`)
        .join("\n")}\n}\n`;
    }),
    `/** Factories for every method, by group. */\nexport interface BerthQueries {\n${groupNames()
      .map((group) => `${doc(groups[group], "  ")}  ${group}: ${pascal(group)}Queries;`)
      .join("\n")}\n}`,
  ].join("\n");
}

const about_ = ({ name }: MethodSchema): string => doc(`${catalog[name].summary}.`, "  ");

function factory(wire: Wire, method: MethodSchema): { type: string; types: string[] } {
  const { input, output, name, inputOptional } = method;
  const page = pageOf(wire, method);
  const asked = inputOptional ? `${input} | void` : input;
  const kind =
    catalog[name].kind === "mutation"
      ? "BerthMutation"
      : page
        ? "BerthInfiniteQuery"
        : "BerthQuery";
  return { type: `${kind}<${asked}, ${output}>`, types: [input, output] };
}
