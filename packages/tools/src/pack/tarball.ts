/** The tarball itself: what is in it, and that it is the same whenever it is made. */
import { createHash } from "node:crypto";
import { readFile, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { CLIENT, ROOT, bin, command, demand } from "./command.ts";

/** Builds and packs; answers the tarball's path. */
export async function pack(folder: string): Promise<string> {
  await command(CLIENT, bin("tsdown"), []);
  const root = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as {
    packageManager: string;
  };
  await command(CLIENT, "npx", ["-y", root.packageManager, "pack", "--pack-destination", folder]);
  const tarball = (await readdir(folder)).find((file) => file.endsWith(".tgz"));
  if (!tarball) throw new Error("no tarball was made");
  return path.join(folder, tarball);
}

/** What is in it beside the built files. */
const BESIDE = [
  "LICENSE",
  "README.md",
  "SUPPORT.md",
  "llms.txt",
  "package.json",
  "skills/berth/SKILL.md",
];
/** A built file: a module of ours, and its declarations. */
const BUILT = /^dist\/(?:testing\/)?[a-z.-]+?(?:\.d\.ts|\.js)$/;
const ENTRIES = ["index", "otel", "react", "testing"];

export async function contents(tarball: string): Promise<string> {
  const files = (await command(ROOT, "tar", ["-tzf", tarball])).trim().split("\n");
  const found = files.map((file) => file.replace("package/", "")).toSorted();
  const beside = found.filter((file) => !file.startsWith("dist/"));
  demand(beside.join() === BESIDE.join(), `beside dist the tarball holds ${beside.join(", ")}`);
  const strange = found.filter((file) => file.startsWith("dist/") && !BUILT.test(file));
  const missing = ENTRIES.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]).filter(
    (file) => !found.includes(file),
  );
  demand(strange.length === 0, `the tarball also holds ${strange.join(", ")}`);
  demand(missing.length === 0, `the tarball lacks ${missing.join(", ")}`);
  const manifest = await command(ROOT, "tar", ["-xzOf", tarball, "package/package.json"]);
  demand(
    !/workspace:|catalog:|\/src\//.test(manifest),
    `package.json is not ready to publish:\n${manifest}`,
  );
  return `${found.length} files`;
}

/** Built and packed once more, from the same sources: whoever doubts a release can make it again. */
export async function sameBytes(tarball: string, folder: string): Promise<string> {
  await rm(path.join(CLIENT, "dist"), { recursive: true, force: true });
  const second = await pack(folder);
  const [a, b] = await Promise.all(
    [tarball, second].map(async (file) => hashOf(await readFile(file))),
  );
  demand(a === b, `packed twice, the bytes differ: ${a} and ${b}`);
  return `sha256 ${a}`;
}

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** What no published file of ours may hold, why, and the files that may all the same. */
const HARMFUL: readonly (readonly [what: string, pattern: RegExp, except?: RegExp])[] = [
  ["code made of text", /\beval\s*\(|\bnew\s+Function\b|(?<![.\w])Function\s*\(/],
  [
    "a Node built-in",
    /\b(?:from|import|require)\s*\(?\s*["'](?:node:|fs|child_process|net|http)/,
    /^package\/dist\/testing(?:\.js|\/)/,
  ],
  [
    "a part of the server",
    /drizzle|fastify|\bpostgres\b|\bpino\b|@cedar-policy|@berth\/(?!client)/,
  ],
  ["something like a key", /berth_[a-z0-9]+_[A-Za-z0-9]{16,}|-----BEGIN|test-admin-key/],
  ["a path of this machine", /\/(?:home|root|work|Users)\//],
];

export async function harmless(tarball: string): Promise<string> {
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
    for (const [what, pattern, except] of HARMFUL) {
      const hit = except?.test(file) ? null : pattern.exec(source);
      demand(hit === null, `${file} holds ${what}: ${hit?.[0]}`);
    }
  }
  return `${code.length} files of code, no script that runs at installing`;
}
