/**
 * `pnpm pack:check [--write]`: the client as another team gets it. Builds and packs the real tarball, installs it in an
 * empty folder outside the workspace, and looks at it there. Prints a line a check with its figure; exit 1 if any
 * failed. With `--write` the committed reports of what the package gives are renewed.
 */
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { apiReport } from "./pack/api-report.ts";
import { blocks } from "./pack/blocks.ts";
import { CLIENT, NPM_FLAGS, ROOT, bin, command, demand } from "./pack/command.ts";
import type { Check } from "./pack/command.ts";
import { contents, harmless, pack, sameBytes } from "./pack/tarball.ts";
import { canary, declarations, typecheck, withPeers } from "./pack/types.ts";

/** Everything that installing the client may bring: itself, its dependencies, and the compiler that tRPC asks for. */
const TREE =
  /^(@berth\/client|@trpc\/(client|server)|eventsource-parser|typescript|@typescript\/.+)$/;

/** A project of somebody else's with nothing but the client in it. */
async function install(folder: string, tarball: string): Promise<void> {
  await writeFile(
    path.join(folder, "package.json"),
    '{ "name": "consumer", "private": true, "type": "module" }\n',
  );
  await command(folder, "npm", ["install", ...NPM_FLAGS, tarball]);
  for (const example of ["quick-start.ts", "misuse.ts", "entries.ts"])
    await cp(path.join(CLIENT, "examples", example), path.join(folder, example));
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

/** By size-limit, as packages/client/package.json says; for a browser, so a Node built-in does not bundle. */
async function size(): Promise<string> {
  const output = await command(CLIENT, bin("size-limit"), ["--json"]);
  const sizes = JSON.parse(output) as { name: string; passed: boolean; size: number }[];
  const told = sizes.map(({ name, size: bytes }) => `${name} ${bytes}`).join(", ");
  demand(sizes.length > 0 && sizes.every(({ passed }) => passed), `too large: ${told}`);
  return `bytes zipped with dependencies: ${told}`;
}

/** What the entries give at run time, without any of their peers but where one is needed. */
async function loads(folder: string): Promise<string> {
  const program = [
    'import { createBerth } from "@berth/client";',
    'import { createBerthQueries } from "@berth/client/react";',
    'import { withBerth } from "@berth/client/testing";',
    'const berth = createBerth({ url: "http://x" });',
    "console.log(Object.keys(berth).join(), Object.keys(createBerthQueries(berth)).length, typeof withBerth);",
  ].join("\n");
  const output = await command(folder, process.execPath, ["--input-type=module", "-e", program]);
  const required = 'console.log(Object.keys(require("@berth/client")).length)';
  const common = await command(folder, process.execPath, ["--input-type=commonjs", "-e", required]);
  return `${output.trim()}; by require ${common.trim()} names`;
}

async function publint(tarball: string): Promise<string> {
  const output = await command(ROOT, bin("publint"), ["run", tarball, "--strict"]);
  return output.trim().split("\n").at(-1) ?? "";
}

async function attw(tarball: string): Promise<string> {
  // Exits 1 at a problem of a resolution that the profile does not ignore.
  const flags = ["--profile", "esm-only", "--format", "table-flipped", "--no-emoji"];
  const output = await command(ROOT, bin("attw"), [tarball, ...flags]);
  const entries = ["react", "otel", "testing"].filter((name) => output.includes(`client/${name}`));
  demand(output.includes("bundler"), `attw said nothing of bundlers:\n${output}`);
  demand(entries.length === 3, `attw looked at ${entries.join(", ")} alone:\n${output}`);
  return `no problems under the profile esm-only, ${entries.length + 1} entries`;
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

async function main(isWriting: boolean): Promise<void> {
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
      ["api report", () => apiReport(isWriting)],
      ["tree", () => tree(folder)],
      ["loads", () => loads(folder)],
      ["publint", () => publint(tarball)],
      ["attw", () => attw(tarball)],
      ["size", size],
      // Last, because they add to the folder.
      ["peers", () => withPeers(folder)],
      ["blocks", () => blocks(folder)],
    ];
    for (const [name, check] of checks) await report(name, check);
  } finally {
    await rm(packed, { recursive: true, force: true });
    await rm(again, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

await main(process.argv.includes("--write"));
