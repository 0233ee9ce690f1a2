/**
 * `node packages/tools/src/supply-chain.ts [lockfile|advisories]`: that what is installed is what the lockfile
 * says, from one registry and without anybody's scripts; and that none of it is older than its last known fault.
 * Asks nobody. `--root DIR` looks at another checkout; exit 1 with a line for each thing that is wrong.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Lockfile, ROOT, nameAndVersion, readLockfile, readYaml } from "./lockfile.ts";

interface Settings {
  readonly allowBuilds?: Readonly<Record<string, boolean>>;
  readonly strictDepBuilds?: boolean;
  readonly blockExoticSubdeps?: boolean;
  readonly verifyDepsBeforeRun?: string;
}

interface Advisories {
  readonly reviewed: string;
  readonly reviewEveryDays: number;
  readonly packages: Readonly<Record<string, Advisory>>;
}

interface Advisory {
  /** The first sound version of each major line. */
  readonly atLeast: readonly string[];
  readonly known: readonly string[];
  /** Versions that are below it, and why they may stay. */
  readonly accepted?: Readonly<Record<string, string>>;
}

/** The same package under another name, beside a version of it that the house uses. */
const ALIAS = /^npm:[a-z][a-z0-9.-]*@(?=\d)/;
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** What is wrong with where packages come from, and with what may run when they are installed. */
export function lockfileFaults(root: string): string[] {
  const lockfile = readLockfile(path.join(root, "pnpm-lock.yaml"));
  return [
    ...resolutionFaults(lockfile),
    ...specifierFaults(lockfile),
    ...settingFaults(root),
    ...scriptFaults(root),
  ];
}

function resolutionFaults({ packages }: Lockfile): string[] {
  return Object.entries(packages).flatMap(([key, { resolution }]) => {
    const { integrity, ...elsewhere } = resolution;
    const faults = [];
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))
      faults.push(`${key} has no SHA-512 of its bytes`);
    // A registry's package has nothing but its hash: an address, a repository or a folder stands beside it.
    for (const name of Object.keys(elsewhere))
      faults.push(`${key} comes from elsewhere: it has a ${name}`);
    if (!EXACT.test(nameAndVersion(key).version))
      faults.push(`${key} is no version of a registry's`);
    return faults;
  });
}

/** Ours name one version each: what a range resolves to is somebody else's choice. */
function specifierFaults({ importers }: Lockfile): string[] {
  return Object.entries(importers).flatMap(([room, of]) =>
    Object.entries({ ...of.dependencies, ...of.devDependencies, ...of.optionalDependencies })
      .filter(
        ([, { specifier }]) =>
          !EXACT.test(specifier.replace(ALIAS, "")) && !/^(workspace:\*|catalog:)$/.test(specifier),
      )
      .map(
        ([name, { specifier }]) =>
          `${room} asks for ${name} as ${specifier}, which is no one version`,
      ),
  );
}

function settingFaults(root: string): string[] {
  const file = path.join(root, "pnpm-workspace.yaml");
  const settings = readYaml(file) as Settings;
  const faults = [];
  if (settings.strictDepBuilds !== true)
    faults.push("strictDepBuilds is not true: an unknown build script would only warn");
  if (settings.blockExoticSubdeps !== true) faults.push("blockExoticSubdeps is not true");
  if (settings.verifyDepsBeforeRun !== "install") faults.push("verifyDepsBeforeRun is not install");
  const lines = readFileSync(file, "utf8").split("\n");
  for (const name of Object.keys(settings.allowBuilds ?? {})) {
    const line = lines.find((each) => each.trim().replaceAll('"', "").startsWith(`${name}:`));
    if (!/#\s*\S+/.test(line ?? "")) faults.push(`allowBuilds of ${name} gives no reason`);
  }
  for (const rc of globSync("{.npmrc,*/*/.npmrc}", { cwd: root })) {
    const other = readFileSync(path.join(root, rc), "utf8").match(/^.*registry\s*=.*$/m);
    if (other) faults.push(`${rc} names another registry`);
  }
  return faults;
}

const HOOKS = ["preinstall", "install", "postinstall"];

/** Of what is installed here: a package with a script of its own that nobody decided about. */
function scriptFaults(root: string): string[] {
  const { allowBuilds = {} } = readYaml(path.join(root, "pnpm-workspace.yaml")) as Settings;
  const store = path.join(root, "node_modules/.pnpm");
  return globSync("*/node_modules/{*,@*/*}/package.json", { cwd: store }).flatMap((file) => {
    const manifest = JSON.parse(readFileSync(path.join(store, file), "utf8")) as {
      name?: string;
      scripts?: Readonly<Record<string, string>>;
    };
    const { name = file, scripts = {} } = manifest;
    const hooks = HOOKS.filter((hook) => hook in scripts);
    if (existsSync(path.join(store, path.dirname(file), "binding.gyp"))) hooks.push("binding.gyp");
    return hooks.length > 0 && !(name in allowBuilds)
      ? [
          `${name} runs ${hooks.join(", ")} when it is installed, and allowBuilds does not say whether it may`,
        ]
      : [];
  });
}

/** What is installed although a fault of it is known. */
export function advisoryFaults(root: string): string[] {
  const advisories = JSON.parse(
    readFileSync(path.join(root, "advisories.json"), "utf8"),
  ) as Advisories;
  const faults = dateFaults(advisories);
  const keys = [
    ...Object.keys(readLockfile(path.join(root, "pnpm-lock.yaml")).packages),
    manager(root),
  ];
  for (const { name, version } of keys.map(nameAndVersion)) {
    const advisory = Object.hasOwn(advisories.packages, name)
      ? advisories.packages[name]
      : undefined;
    if (!advisory || isSound(version, advisory.atLeast) || advisory.accepted?.[version]) continue;
    faults.push(
      `${name} ${version} has known faults (${advisory.known.join("; ")}): at least ${advisory.atLeast.join(" or ")}`,
    );
  }
  for (const [name, { accepted = {} }] of Object.entries(advisories.packages))
    for (const version of Object.keys(accepted))
      if (!keys.includes(`${name}@${version}`))
        faults.push(`${name} ${version} is accepted and not there: take it out`);
  return faults;
}

function manager(root: string): string {
  const manifest = readFileSync(path.join(root, "package.json"), "utf8");
  return (JSON.parse(manifest) as { packageManager: string }).packageManager;
}

function dateFaults({ reviewed }: Advisories): string[] {
  const at = Date.parse(reviewed);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(reviewed) || Number.isNaN(at)) return ["reviewed is no date"];
  return at > Date.now() + 86_400_000 ? ["reviewed is in the future"] : [];
}

/** At least the first sound version of its own line; of a line that is not named, at least the newest one named. */
function isSound(version: string, atLeast: readonly string[]): boolean {
  const line = (text: string) => text.split(".", 1)[0];
  const own = atLeast.find((sound) => line(sound) === line(version));
  const least = own ?? atLeast.toSorted(compare).at(-1) ?? "0.0.0";
  return compare(version, least) >= 0;
}

/** By semantic versioning's order: a pre-release comes before its release. */
export function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => {
    const [numbers = "", ...pre] = text.split("-");
    return { numbers: numbers.split(".").map(Number), pre: pre.join("-") };
  });
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.numbers[i] ?? 0) - (right?.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left?.pre === right?.pre) return 0;
  if (!left?.pre || !right?.pre) return left?.pre ? -1 : 1;
  return left.pre.localeCompare(right.pre, "en", { numeric: true });
}

const CHECKS = { lockfile: lockfileFaults, advisories: advisoryFaults } as const;

function main(args: readonly string[]): void {
  const at = args.indexOf("--root");
  const root = at < 0 ? ROOT : path.resolve(args[at + 1] ?? ".");
  const names = at < 0 ? args : args.toSpliced(at, 2);
  const wanted = names.length > 0 ? names : Object.keys(CHECKS);
  for (const name of wanted) {
    if (!Object.hasOwn(CHECKS, name)) {
      process.stderr.write(
        `there is no check ${name}; there are ${Object.keys(CHECKS).join(", ")}\n`,
      );
      process.exitCode = 2;
      continue;
    }
    const faults = CHECKS[name as keyof typeof CHECKS](root);
    for (const fault of faults) process.stderr.write(`${name}: ${fault}\n`);
    if (faults.length > 0) process.exitCode = 1;
    else process.stdout.write(`${name}: ${summary(name, root)}\n`);
  }
}

function summary(name: string, root: string): string {
  const { packages } = readLockfile(path.join(root, "pnpm-lock.yaml"));
  const count = Object.keys(packages).length;
  if (name === "lockfile") return `${count} packages, each with its hash, from one registry`;
  const {
    reviewed,
    reviewEveryDays,
    packages: known,
  } = JSON.parse(readFileSync(path.join(root, "advisories.json"), "utf8")) as Advisories;
  const days = Math.floor((Date.now() - Date.parse(reviewed)) / 86_400_000);
  const due = days > reviewEveryDays ? "; REVIEW IT: the list is old" : "";
  return `${count} packages against ${Object.keys(known).length} advisories of ${reviewed}${due}`;
}

if (import.meta.main) main(process.argv.slice(2));
