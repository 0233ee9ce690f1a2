/**
 * `pnpm pack:check`: the client as another team gets it. Builds and packs the real tarball, installs it in an empty
 * folder outside the workspace, and looks at it there. Prints a line a check with its figure; exit 1 if any failed.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../../..");
const CLIENT = path.join(ROOT, "packages/client");
const NODE = process.execPath;
const LIMIT_MS = 180_000;

/** The core and everything it imports, minified and zipped. */
const SIZE_MAX = 20_000;
const NPM_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
/** Everything that installing the client may bring: itself, its dependencies, and the compiler that tRPC asks for. */
const TREE =
  /^(@berth\/client|@trpc\/(client|server)|eventsource-parser|typescript|@typescript\/.+)$/;

/** The entry, and what is loaded when it is needed: its reader of streams, and what the two share. */
const DIST = ["dist/call.js", "dist/index.d.ts", "dist/index.js", "dist/watch.js"];
const CHUNK_HASH = /(?<=dist\/\w+)-[\w-]{8}(?=\.js$)/;

/** Where a consumer's `fetch` and `AbortSignal` come from: a browser's library, or the types of Node. */
const DOM = { lib: ["es2022", "dom"], types: [] as string[] };
const NODE_TYPES = { lib: ["es2022"], types: ["node"] };

/** Throws what is wrong, answers its figure when nothing is. */
type Check = () => Promise<string>;

async function command(cwd: string, file: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(file, args, { cwd, timeout: LIMIT_MS, maxBuffer: 2 ** 26 });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${path.basename(file)} ${args.join(" ")}\n${stdout}${stderr}`.trim(), {
      cause: error,
    });
  }
}

function bin(name: string): string {
  return path.join(CLIENT, "node_modules/.bin", name);
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Builds and packs; answers the tarball's path. */
async function pack(folder: string): Promise<string> {
  await command(CLIENT, bin("tsdown"), []);
  const root = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as {
    packageManager: string;
  };
  await command(CLIENT, "npx", ["-y", root.packageManager, "pack", "--pack-destination", folder]);
  const tarball = (await readdir(folder)).find((file) => file.endsWith(".tgz"));
  if (!tarball) throw new Error("no tarball was made");
  return path.join(folder, tarball);
}

/** A project of somebody else's with nothing but the client in it. */
async function install(folder: string, tarball: string): Promise<void> {
  await writeFile(
    path.join(folder, "package.json"),
    '{ "name": "consumer", "private": true, "type": "module" }\n',
  );
  await command(folder, "npm", ["install", ...NPM_FLAGS, tarball]);
  for (const example of ["quick-start.ts", "misuse.ts"])
    await cp(path.join(CLIENT, "examples", example), path.join(folder, example));
}

/** Type-checks the examples: right ones compile, and every mistake in misuse.ts is one. */
async function typecheck(
  folder: string,
  resolution: "nodenext" | "bundler",
  libraries = DOM,
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
  await writeFile(
    project,
    JSON.stringify({ compilerOptions, files: ["quick-start.ts", "misuse.ts"] }),
  );
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  const output = await command(folder, tsc, ["-p", project, "--extendedDiagnostics"]);
  const mistakes = (await readFile(path.join(folder, "misuse.ts"), "utf8")).match(
    /@ts-expect-error/g,
  );
  const instantiations = /Instantiations:\s+(\d+)/.exec(output)?.[1] ?? "?";
  return `0 errors, ${mistakes?.length ?? 0} mistakes refused, ${instantiations} instantiations`;
}

/** Seen to fail: without the expectations every mistake must be reported. */
async function canary(folder: string): Promise<string> {
  const source = await readFile(path.join(folder, "misuse.ts"), "utf8");
  const mistakes = source.match(/@ts-expect-error/g)?.length ?? 0;
  await writeFile(
    path.join(folder, "canary.ts"),
    source.replaceAll("@ts-expect-error", "mistake:"),
  );
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    lib: ["es2022", "dom"],
    types: [],
  };
  const project = path.join(folder, "tsconfig.canary.json");
  await writeFile(project, JSON.stringify({ compilerOptions, files: ["canary.ts"] }));
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  const output = await command(folder, tsc, ["-p", project]).catch((error: unknown) =>
    String(error),
  );
  const lines = new Set([...output.matchAll(/canary\.ts\((\d+),/g)].map((match) => match[1]));
  demand(
    lines.size >= mistakes,
    `only ${lines.size} of ${mistakes} mistakes are errors:\n${output}`,
  );
  return `${mistakes} mistakes are errors when not expected`;
}

async function contents(tarball: string): Promise<string> {
  const files = (await command(ROOT, "tar", ["-tzf", tarball])).trim().split("\n");
  const expected = ["LICENSE", "README.md", ...DIST, "package.json"];
  const found = files
    .map((file) => file.replace("package/", "").replace(CHUNK_HASH, ""))
    .toSorted();
  demand(found.join() === expected.join(), `the tarball holds ${found.join(", ")}`);
  const manifest = await command(ROOT, "tar", ["-xzOf", tarball, "package/package.json"]);
  demand(
    !/workspace:|catalog:|\/src\//.test(manifest),
    `package.json is not ready to publish:\n${manifest}`,
  );
  return `${found.length} files`;
}

/** Built and packed once more, from the same sources: whoever doubts a release can make it again. */
async function sameBytes(tarball: string, folder: string): Promise<string> {
  await rm(path.join(CLIENT, "dist"), { recursive: true, force: true });
  const second = await pack(folder);
  const [a, b] = await Promise.all(
    [tarball, second].map(async (file) => hashOf(await readFile(file))),
  );
  demand(a === b, `packed twice, the bytes differ: ${a} and ${b}`);
  return `sha256 ${a}`;
}

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** What no published file of ours may hold, and why. */
const HARMFUL: readonly (readonly [string, RegExp])[] = [
  ["code made of text", /\beval\s*\(|\bnew\s+Function\b|(?<![.\w])Function\s*\(/],
  ["a Node built-in", /\b(?:from|import|require)\s*\(?\s*["'](?:node:|fs|child_process|net|http)/],
  [
    "a part of the server",
    /drizzle|fastify|\bpostgres\b|\bpino\b|@cedar-policy|@berth\/(?!client)/,
  ],
  ["something like a key", /berth_[a-z0-9]+_[A-Za-z0-9]{16,}|-----BEGIN|test-admin-key/],
  ["a path of this machine", /\/(?:home|root|work|Users)\//],
];

async function harmless(tarball: string): Promise<string> {
  const manifest = JSON.parse(
    await command(ROOT, "tar", ["-xzOf", tarball, "package/package.json"]),
  ) as { scripts?: Record<string, string> };
  const hooks = ["preinstall", "install", "postinstall", "prepare"];
  const found = hooks.filter((hook) => hook in (manifest.scripts ?? {}));
  demand(found.length === 0, `package.json runs ${found.join(", ")} when it is installed`);
  const files = (await command(ROOT, "tar", ["-tzf", tarball])).trim().split("\n");
  const code = files.filter((file) => file.endsWith(".js"));
  for (const file of code) {
    const source = await command(ROOT, "tar", ["-xzOf", tarball, file]);
    for (const [what, pattern] of HARMFUL) {
      const hit = pattern.exec(source);
      demand(hit === null, `${file} holds ${what}: ${hit?.[0]}`);
    }
  }
  return `${code.length} files of code, no script that runs at installing`;
}

async function declarations(folder: string): Promise<string> {
  const file = path.join(folder, "node_modules/@berth/client/dist/index.d.ts");
  const source = await readFile(file, "utf8");
  const uncommented = source.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\/\/.*$/gm, "");
  // The topology "any" is a word of ours.
  const code = uncommented.replaceAll(/(?<!from\s*|import\()"[^"\n]*"/g, '""');
  for (const [what, pattern] of [
    ["any", /\bany\b/],
    ["an import", /\bimport\b|\brequire\b|\bfrom\s+["']/],
    ["a reference", /\/\/\/\s*<reference/],
    ["a name of the server's", /drizzle|fastify|postgres|\bzod\b|trpc|@berth\/|process\.env/i],
  ] as const) {
    const hit = pattern.exec(what === "a reference" ? source : code);
    demand(hit === null, `the declarations hold ${what}: ${hit?.[0]}`);
  }
  return `${(source.length / 1_000).toFixed(1)} kB, no any, no import`;
}

async function tree(folder: string): Promise<string> {
  const modules = path.join(folder, "node_modules");
  const names = (await readdir(modules)).filter((name) => !name.startsWith("."));
  const scoped = await Promise.all(
    names.map(async (name) =>
      name.startsWith("@")
        ? (await readdir(path.join(modules, name))).map((inner) => `${name}/${inner}`)
        : [name],
    ),
  );
  const extra = scoped.flat().filter((name) => !TREE.test(name));
  demand(extra.length === 0, `installing the client also brings ${extra.join(", ")}`);
  return `${scoped.flat().length} packages: ${scoped.flat().join(", ")}`;
}

async function size(folder: string): Promise<string> {
  const entry = path.join(folder, "entry.js");
  await writeFile(entry, 'export { createBerth, isBerthError } from "@berth/client";\n');
  // For a browser: an import of a Node built-in does not bundle.
  const flags = ["--bundle", "--minify", "--format=esm", "--platform=browser", "--target=es2022"];
  const bundle = await command(folder, bin("esbuild"), [entry, ...flags]);
  const zipped = gzipSync(bundle, { level: 9 }).length;
  demand(zipped <= SIZE_MAX, `${zipped} bytes zipped, at most ${SIZE_MAX}`);
  return `${zipped} bytes min+gzip with dependencies (${bundle.length} minified), at most ${SIZE_MAX}`;
}

async function loads(folder: string): Promise<string> {
  const program =
    'import { createBerth } from "@berth/client"; console.log(Object.keys(createBerth({ url: "http://x" })).join())';
  return (await command(folder, NODE, ["--input-type=module", "-e", program])).trim();
}

async function main(): Promise<void> {
  const packed = await mkdtemp(path.join(tmpdir(), "berth-pack-"));
  const again = await mkdtemp(path.join(tmpdir(), "berth-pack-again-"));
  const folder = await mkdtemp(path.join(tmpdir(), "berth-consumer-"));
  try {
    const tarball = await pack(packed);
    await install(folder, tarball);
    const checks: readonly (readonly [string, Check])[] = [
      ["tarball", () => contents(tarball)],
      ["same bytes", () => sameBytes(tarball, again)],
      ["harmless", () => harmless(tarball)],
      ["nodenext", () => typecheck(folder, "nodenext")],
      ["bundler", () => typecheck(folder, "bundler")],
      ["canary", () => canary(folder)],
      ["declarations", () => declarations(folder)],
      ["tree", () => tree(folder)],
      ["loads", () => loads(folder)],
      [
        "publint",
        async () => lastLine(await command(ROOT, bin("publint"), ["run", tarball, "--strict"])),
      ],
      ["attw", async () => attw(tarball)],
      ["size", () => size(folder)],
      ["node types", () => nodeTypes(folder)],
    ];
    for (const [name, check] of checks) await report(name, check);
  } finally {
    await rm(packed, { recursive: true, force: true });
    await rm(again, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without a browser's library; last, because it adds to the folder. */
async function nodeTypes(folder: string): Promise<string> {
  const installed = path.join(ROOT, "packages/tools/node_modules/@types/node/package.json");
  const { version } = JSON.parse(await readFile(installed, "utf8")) as { version: string };
  await command(folder, "npm", ["install", ...NPM_FLAGS, `@types/node@${version}`]);
  return typecheck(folder, "nodenext", NODE_TYPES);
}

async function attw(tarball: string): Promise<string> {
  // Exits 1 at a problem of a resolution that the profile does not ignore.
  const flags = ["--profile", "esm-only", "--format", "table-flipped", "--no-emoji"];
  const output = await command(ROOT, bin("attw"), [tarball, ...flags]);
  demand(output.includes("bundler"), `attw said nothing of bundlers:\n${output}`);
  return "no problems under the profile esm-only";
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

async function report(name: string, check: Check): Promise<void> {
  try {
    process.stdout.write(`ok    ${name.padEnd(13)} ${await check()}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(
      `FAIL  ${name.padEnd(13)} ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}

await main();
