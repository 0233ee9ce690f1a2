/**
 * Import boundaries: holds every import and every package.json of the house against `matrix.ts`.
 * `boundaries.test.ts` plants one violation of each rule and sees it reported.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Import, type SourceFile, readSource } from "./imports.ts";
import {
  type Access,
  MATRIX,
  type Room,
  type RoomPath,
  UNREACHABLE,
  type Unreachable,
} from "./matrix.ts";
import { type Finding, printFindings } from "./report.ts";

/** One file of a room, parsed. */
interface File extends SourceFile {
  readonly path: string;
  readonly room: RoomPath;
  /** Tests and what only tests use: may import what their package.json declares. */
  readonly test: boolean;
}

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** What the one who installs brings along, or leaves out with the entry that needs it. */
  readonly peerDependencies: Readonly<Record<string, string>>;
}

interface House {
  readonly root: string;
  readonly manifests: ReadonlyMap<RoomPath, Manifest>;
  readonly files: ReadonlyMap<string, File>;
}

export interface BoundaryReport {
  readonly findings: readonly Finding[];
  /** How much was looked at: a check that saw nothing proves nothing. */
  readonly files: number;
  readonly imports: number;
}

/** Tests and what only they use: `*.test.ts`, a `test-kit.ts` beside them, and these folders. */
const TESTS = /\.test\.tsx?$|\/test-kit\.ts$|\/(test|testing|bench|soak|history)\//;

/** Every violation below `root`, by file and line. */
export function checkBoundaries(root: string): BoundaryReport {
  const findings: Finding[] = [];
  const house = readHouse(root, findings);
  for (const [room, manifest] of house.manifests)
    findings.push(...manifestFindings(room, manifest));
  findings.push(...versionFindings(house));
  let imports = 0;
  for (const file of house.files.values()) {
    imports += file.imports.length;
    for (const taken of file.imports) {
      const message = importMessage(house, file, taken);
      if (message !== undefined) findings.push({ file: file.path, line: taken.line, message });
    }
  }
  for (const rule of UNREACHABLE) findings.push(...reachFindings(house, rule));
  if (imports === 0)
    findings.push({ file: ".", line: 1, message: "no import was read: nothing was checked" });
  return { findings, files: house.files.size, imports };
}

function readHouse(root: string, findings: Finding[]): House {
  const manifests = new Map<RoomPath, Manifest>();
  const files = new Map<string, File>();
  for (const found of globSync("{packages,apps}/*/package.json", { cwd: root }).sort()) {
    const room = path.posix.dirname(found.replaceAll(path.sep, "/")) as RoomPath;
    manifests.set(room, readManifest(path.join(root, found)));
    if (MATRIX[room] === undefined) {
      findings.push({
        file: found,
        line: 1,
        message: `room ${room} has no row in packages/tools/src/matrix.ts`,
      });
    }
    for (const source of globSync(`${room}/{src,test,bench}/**/*.{ts,tsx}`, { cwd: root }).sort()) {
      const read = readFile(root, room, source.replaceAll(path.sep, "/"));
      if ("message" in read) findings.push(read);
      else files.set(read.path, read);
    }
  }
  return { root, manifests, files };
}

function readFile(root: string, room: RoomPath, source: string): File | Finding {
  const text = readFileSync(path.join(root, source), "utf8");
  const test = TESTS.test(source);
  try {
    return { path: source, room, test, ...readSource(text, source.endsWith("x") ? "tsx" : "ts") };
  } catch (error) {
    const [message] = (error as Error).message.split("\n");
    return { file: source, line: 1, message: `does not parse: ${message}` };
  }
}

function readManifest(file: string): Manifest {
  const json = JSON.parse(readFileSync(file, "utf8")) as Partial<Manifest> & {
    readonly optionalDependencies?: Manifest["dependencies"];
  };
  return {
    name: json.name ?? "",
    dependencies: { ...json.dependencies, ...json.optionalDependencies },
    devDependencies: json.devDependencies ?? {},
    peerDependencies: json.peerDependencies ?? {},
  };
}

const isHouse = (specifier: string): boolean => specifier.startsWith("@berth/");
const packageOf = (specifier: string): string =>
  specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** Everything that the room or one of its parts may import. */
function accessOf(room: Room, file?: string): Readonly<Record<string, Access>> {
  const parts = (room.parts ?? []).filter(
    (part) => file === undefined || file.startsWith(part.prefix),
  );
  return Object.assign({}, room.may, ...parts.map((part) => part.may)) as Record<string, Access>;
}

function manifestFindings(path: RoomPath, manifest: Manifest): Finding[] {
  const room = MATRIX[path];
  if (room === undefined) return [];
  const may = accessOf(room);
  const at = (message: string): Finding => ({ file: `${path}/package.json`, line: 1, message });
  const found: Finding[] = [];
  for (const name of Object.keys(manifest.dependencies)) {
    if (path === "packages/domain") found.push(at(`the domain has no dependencies, found ${name}`));
    else if (isHouse(name) && may[name] === undefined)
      found.push(at(`${path} may not depend on ${name}`));
  }
  for (const name of Object.keys(manifest.devDependencies)) {
    if (isHouse(name) && room.alone === true)
      found.push(at(`${path} stands alone: no devDependency on ${name}`));
  }
  return found;
}

/** A version that two rooms name stands once, in the workspace's catalog. */
function versionFindings({ root, manifests }: House): Finding[] {
  const places = new Map<string, { file: string; version: string }[]>();
  const file = path.join(root, "package.json");
  const whole: [string, Manifest][] = existsSync(file) ? [[".", readManifest(file)]] : [];
  for (const [room, { dependencies, devDependencies }] of [...whole, ...manifests]) {
    for (const [name, version] of Object.entries({ ...devDependencies, ...dependencies })) {
      const place = { file: path.posix.join(room, "package.json"), version };
      places.set(name, [...(places.get(name) ?? []), place]);
    }
  }
  return [...places].flatMap(([name, found]) =>
    found
      .filter(({ version }) => found.length > 1 && !/^(catalog|workspace):/.test(version))
      .map((place) => ({
        file: place.file,
        line: 1,
        message: `${name} is named twice: put its version in the catalog`,
      })),
  );
}

/** What is wrong with one import, or undefined. Rules from the narrowest target to the widest. */
function importMessage(house: House, file: File, taken: Import): string | undefined {
  const { specifier } = taken;
  if (specifier.startsWith(".")) return relativeMessage(file, specifier);
  if (isHouse(specifier)) return houseMessage(house, file, taken);
  return externalMessage(house, file, taken);
}

function relativeMessage(file: File, specifier: string): string | undefined {
  const target = path.posix.join(path.posix.dirname(file.path), specifier);
  if (!target.startsWith(`${file.room}/`))
    return `${specifier} leaves ${file.room}: import the package by its name`;
  if (!file.test && TESTS.test(target)) return `${specifier} is for tests only`;
  return apiMessage(file, target, specifier);
}

/** Inside the API: the router is a table of contents, and a group's SQL is its own. */
function apiMessage(file: File, target: string, specifier: string): string | undefined {
  const group = /^packages\/api\/src\/groups\/([^/]+)\/(.+)\.ts$/.exec(target);
  if (group === null || file.test) return undefined;
  const own = file.path.startsWith(`packages/api/src/groups/${group[1]}/`);
  const collects = /^packages\/api\/src\/(root|groups\/index)\.ts$/.test(file.path);
  if (group[2] === "router" && !collects) return `${specifier}: only the root collects routers`;
  if (group[2] === "store" && !own)
    return `${specifier}: a group's store is its own; ask its method or share a helper`;
  return undefined;
}

function houseMessage(house: House, file: File, taken: Import): string | undefined {
  const room = MATRIX[file.room];
  const name = packageOf(taken.specifier);
  if (room === undefined || house.manifests.get(file.room)?.name === name)
    return selfMessage(house, file, name);
  const subpath = taken.specifier.slice(name.length);
  const doors = ["", "/testing", ...doorsOf(house, name)];
  if (!doors.includes(subpath))
    return `${taken.specifier}: only ${doors.map((door) => name + door).join(" and ")} are public`;
  const isScript = file.room === "packages/tools";
  if (subpath === "/testing" && !file.test && !isScript)
    return `${taken.specifier} is for tests only`;
  if (file.test && room.alone !== true) return undeclaredMessage(house, file, name);
  return accessMessage(room, file, taken) ?? undeclaredMessage(house, file, name);
}

/** What the package's room has set open. */
function doorsOf(house: House, name: string): readonly string[] {
  for (const [room, manifest] of house.manifests)
    if (manifest.name === name) return MATRIX[room]?.doors ?? [];
  return [];
}

function selfMessage(house: House, file: File, name: string): string | undefined {
  return house.manifests.get(file.room)?.name === name && !file.test
    ? `${name} imports itself by name: use a relative path`
    : undefined;
}

function accessMessage(room: Room, file: File, taken: Import): string | undefined {
  const name = packageOf(taken.specifier);
  const access = accessOf(room, file.path)[name];
  if (access === undefined) return `${file.room} may not import ${name}`;
  if (access === "all" || taken.typeOnly) return undefined;
  if (access === "types") return `${file.room} may import only types from ${name}`;
  const values = taken.values.filter(
    (v) => !/^[A-Z][A-Z0-9_]*$/.test(v) && !(room.helpers ?? []).includes(v),
  );
  return values.length > 0
    ? `${file.room} may import only types and constants from ${name}, found ${values.join(", ")}`
    : undefined;
}

function externalMessage(house: House, file: File, taken: Import): string | undefined {
  const { specifier } = taken;
  const name = packageOf(specifier);
  if (file.room === "packages/domain" && !file.test)
    return `the domain imports only itself, found ${specifier}`;
  if (file.room === "packages/client" && specifier.startsWith("node:") && !file.test) {
    return `the client runs in browsers too, found ${specifier}`;
  }
  if (
    name === "@trpc/server" &&
    taken.values.includes("initTRPC") &&
    file.path !== "packages/api/src/trpc.ts"
  ) {
    return "only packages/api/src/trpc.ts sets tRPC up";
  }
  return specifier.startsWith("node:") ? undefined : undeclaredMessage(house, file, name);
}

function undeclaredMessage(house: House, file: File, name: string): string | undefined {
  const manifest = house.manifests.get(file.room);
  if ((manifest?.dependencies[name] ?? manifest?.peerDependencies[name]) !== undefined)
    return undefined;
  if (manifest?.devDependencies[name] === undefined)
    return `${name} is not in ${file.room}/package.json`;
  return file.test || file.room === "packages/tools"
    ? undefined
    : `${name} is a devDependency of ${file.room}; what ships needs it in dependencies`;
}

/** Follows imports that survive to run time from each matching file, inside its room. */
function reachFindings(house: House, rule: Unreachable): Finding[] {
  const found: Finding[] = [];
  for (const start of house.files.values()) {
    if (start.test || !rule.from.test(start.path)) continue;
    for (const { file, chain } of reached(house, start)) {
      const name = (rule.names ?? []).find((n) => file.names.has(n));
      const taken = file.imports.find(
        (i) => !i.typeOnly && (rule.packages ?? []).includes(packageOf(i.specifier)),
      );
      const what = name === undefined ? taken?.specifier : `\`${name}\``;
      if (what !== undefined) {
        found.push({
          file: start.path,
          line: 1,
          message: `reaches ${what} by ${chain.join(" → ")}: ${rule.because}`,
        });
      }
    }
  }
  return found;
}

function* reached(house: House, start: File): Generator<{ file: File; chain: string[] }> {
  const seen = new Set([start.path]);
  const queue = [{ file: start, chain: [start.path] }];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    yield step;
    for (const { specifier, typeOnly } of step.file.imports) {
      const next = house.files.get(path.posix.join(path.posix.dirname(step.file.path), specifier));
      if (typeOnly || !specifier.startsWith(".") || next === undefined || seen.has(next.path))
        continue;
      seen.add(next.path);
      queue.push({ file: next, chain: [...step.chain, next.path] });
    }
  }
}

if (import.meta.main) {
  const report = checkBoundaries(path.resolve(import.meta.dirname, "../../.."));
  process.stdout.write(`${report.files} files, ${report.imports} imports\n`);
  printFindings(report.findings);
}
