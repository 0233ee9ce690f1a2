/** The declarations as somebody else's compiler sees them. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { NPM_FLAGS, ROOT, command, demand } from "./command.ts";

/** Where a consumer's `fetch` and `AbortSignal` come from: a browser's library, or the types of Node. */
const DOM = { lib: ["es2022", "dom"], types: [] as string[] };
const NODE_TYPES = { lib: ["es2022"], types: ["node"] };

const TSC = path.join(ROOT, "node_modules/.bin/tsc");
const EXAMPLES = ["quick-start.ts", "misuse.ts"];

type Resolution = "nodenext" | "bundler";

interface Program {
  readonly files: readonly string[];
  readonly libraries?: object;
  /** The compiler; default: this workspace's. */
  readonly tsc?: string;
}

/** Type-checks programs of somebody else's; answers the compiler's own figures. */
export async function compile(
  folder: string,
  resolution: Resolution,
  { files, libraries = DOM, tsc = TSC }: Program,
): Promise<string> {
  const project = path.join(folder, `tsconfig.${resolution}.json`);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    target: "es2022",
    ...libraries,
    module: resolution === "nodenext" ? "nodenext" : "preserve",
    moduleResolution: resolution,
  };
  await writeFile(project, JSON.stringify({ compilerOptions, files }));
  return command(folder, tsc, ["-p", project, "--extendedDiagnostics"]);
}

/** The examples: right ones compile, and every mistake in misuse.ts is one. */
export async function typecheck(folder: string, resolution: Resolution): Promise<string> {
  const output = await compile(folder, resolution, { files: EXAMPLES });
  const mistakes = (await readFile(path.join(folder, "misuse.ts"), "utf8")).match(
    /@ts-expect-error/g,
  );
  const instantiations = /Instantiations:\s+(\d+)/.exec(output)?.[1] ?? "?";
  return `0 errors, ${mistakes?.length ?? 0} mistakes refused, ${instantiations} instantiations`;
}

/** Seen to fail: without the expectations every mistake must be reported. */
export async function canary(folder: string): Promise<string> {
  const source = await readFile(path.join(folder, "misuse.ts"), "utf8");
  const mistakes = source.match(/@ts-expect-error/g)?.length ?? 0;
  await writeFile(
    path.join(folder, "canary.ts"),
    source.replaceAll("@ts-expect-error", "mistake:"),
  );
  const output = await compile(folder, "nodenext", { files: ["canary.ts"] }).catch(String);
  const lines = new Set([...output.matchAll(/canary\.ts\((\d+),/g)].map((match) => match[1]));
  demand(
    lines.size >= mistakes,
    `only ${lines.size} of ${mistakes} mistakes are errors:\n${output}`,
  );
  return `${mistakes} mistakes are errors when not expected`;
}

/** What the declarations of an entry may import; the core's import nothing. */
const PEERS = new Map([["react.d.ts", /^@tanstack\/react-query$/]]);

/** Without a browser's library, and the entries that need their peers; adds to the folder. */
export async function withPeers(folder: string): Promise<string> {
  const versions = await Promise.all(
    [
      ["tools", "@types/node"],
      ["client", "@types/react"],
      ["client", "react"],
      ["client", "@tanstack/react-query"],
      ["client", "@opentelemetry/api"],
    ].map(async ([room, name]) => {
      const file = path.join(ROOT, `packages/${room}/node_modules/${name}/package.json`);
      const { version } = JSON.parse(await readFile(file, "utf8")) as { version: string };
      return `${name}@${version}`;
    }),
  );
  await command(folder, "npm", ["install", ...NPM_FLAGS, ...versions]);
  const files = [...EXAMPLES, "entries.ts"];
  await compile(folder, "nodenext", { files, libraries: NODE_TYPES });
  await compile(folder, "bundler", { files, libraries: NODE_TYPES });
  return `0 errors with ${versions.join(", ")}`;
}

export async function declarations(folder: string): Promise<string> {
  const dist = path.join(folder, "node_modules/@berth/client/dist");
  const files = (await readdir(dist)).filter((file) => file.endsWith(".d.ts"));
  let size = 0;
  for (const file of files) {
    const source = await readFile(path.join(dist, file), "utf8");
    size += source.length;
    examine(file, source);
  }
  return `${files.length} files, ${(size / 1_000).toFixed(1)} kB, no any, no import of what is not installed`;
}

function examine(file: string, source: string): void {
  const uncommented = source.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\/\/.*$/gm, "");
  const taken = [...uncommented.matchAll(/\bfrom\s+"([^"]+)"|\bimport\("([^"]+)"\)/g)];
  for (const [, from, dynamic] of taken) {
    const name = from ?? dynamic ?? "";
    const isFine = name.startsWith("./") || PEERS.get(file)?.test(name) === true;
    demand(isFine || /^@opentelemetry\/api$/.test(name), `${file} imports ${name}`);
  }
  // The topology "any" is a word of ours.
  const code = uncommented.replaceAll(/"[^"\n]*"/g, '""');
  for (const [what, pattern] of [
    ["any", /\bany\b/],
    ["a name of the server's", /drizzle|fastify|postgres|\bzod\b|trpc|@berth\/|process\.env/i],
  ] as const) {
    const hit = pattern.exec(code);
    demand(hit === null, `${file} holds ${what}: ${hit?.[0]}`);
  }
  const references = (source.match(/\/\/\/\s*<reference.*/g) ?? []).filter(
    (line) => line !== '/// <reference lib="esnext.disposable" />',
  );
  demand(references.length === 0, `${file} holds a reference: ${references.join()}`);
}
