/**
 * What a TypeScript file imports, read from its syntax tree. TypeScript 7 has no parser API; Vite's own
 * (oxc, re-exported by Vitest, which is here anyway) keeps the difference between types and values.
 */
import { parseAst } from "vitest/node";

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Erased before run time: `import type`, `export type … from`, `import("…")` in a type. */
  readonly typeOnly: boolean;
  /** Value names taken; `*` for a namespace, a bare or a dynamic import, `default` for a default import. */
  readonly values: readonly string[];
}

export interface SourceFile {
  readonly imports: readonly Import[];
  /** Every identifier in the file, property names included. */
  readonly names: ReadonlySet<string>;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && typeof (value as SyntaxNode).type === "string";

/** Imports and names of one file. Throws with the parser's message when it is not valid TypeScript. */
export function readSource(text: string, lang: "ts" | "tsx" = "ts"): SourceFile {
  const imports: Import[] = [];
  const names = new Set<string>();
  const stack: unknown[] = [parseAst(text, { lang })];
  while (stack.length > 0) {
    const value = stack.pop();
    if (Array.isArray(value)) stack.push(...value);
    if (!isNode(value)) continue;
    if (value.type === "Identifier") names.add(value["name"] as string);
    const found = importOf(value);
    if (found !== undefined) imports.push({ ...found, line: lineAt(text, value.start) });
    for (const child of Object.values(value)) {
      if (typeof child === "object" && child !== null) stack.push(child);
    }
  }
  return { imports: imports.sort((a, b) => a.line - b.line), names };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function importOf(node: SyntaxNode): Omit<Import, "line"> | undefined {
  const specifier = literalText(node["source"]);
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return specifier === undefined ? undefined : declared(node, specifier);
    case "ImportExpression":
      return specifier === undefined ? undefined : { specifier, typeOnly: false, values: ["*"] };
    case "TSImportType":
      return specifier === undefined ? undefined : { specifier, typeOnly: true, values: [] };
    case "TSExternalModuleReference": {
      const required = literalText(node["expression"]);
      return required === undefined
        ? undefined
        : { specifier: required, typeOnly: false, values: ["*"] };
    }
    default:
      return undefined;
  }
}

function declared(node: SyntaxNode, specifier: string): Omit<Import, "line"> {
  const kindOf = (n: SyntaxNode): unknown => n["importKind"] ?? n["exportKind"];
  if (kindOf(node) === "type") return { specifier, typeOnly: true, values: [] };
  const specifiers = (node["specifiers"] as SyntaxNode[] | undefined) ?? [];
  if (specifiers.length === 0) return { specifier, typeOnly: false, values: ["*"] };
  const values = specifiers.filter((s) => kindOf(s) !== "type").map(takenName);
  return { specifier, typeOnly: values.length === 0, values };
}

function takenName(specifier: SyntaxNode): string {
  if (specifier.type === "ImportNamespaceSpecifier") return "*";
  if (specifier.type === "ImportDefaultSpecifier") return "default";
  const name = (
    specifier.type === "ExportSpecifier" ? specifier["local"] : specifier["imported"]
  ) as SyntaxNode;
  return String(name["name"] ?? name["value"]);
}

function literalText(value: unknown): string | undefined {
  return isNode(value) && typeof value["value"] === "string" ? value["value"] : undefined;
}
