/** What pnpm's lockfile says is installed: every package, whence, and what it depends on. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

export const ROOT = path.resolve(import.meta.dirname, "../../..");

interface Resolution {
  readonly integrity?: string;
  readonly [other: string]: unknown;
}

interface Package {
  readonly resolution: Resolution;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Importer {
  readonly dependencies?: Readonly<Record<string, Pinned>>;
  readonly devDependencies?: Readonly<Record<string, Pinned>>;
  readonly optionalDependencies?: Readonly<Record<string, Pinned>>;
}

export interface Pinned {
  readonly specifier: string;
  readonly version: string;
}

export interface Lockfile {
  readonly lockfileVersion: string;
  readonly importers: Readonly<Record<string, Importer>>;
  /** By `name@version`. */
  readonly packages: Readonly<Record<string, Package>>;
  /** By `name@version` with the peers that it was resolved with in brackets. */
  readonly snapshots: Readonly<Record<string, Dependencies>>;
}

export function readYaml(file: string): unknown {
  return parse(readFileSync(file, "utf8"));
}

export function readLockfile(file: string = path.join(ROOT, "pnpm-lock.yaml")): Lockfile {
  return readYaml(file) as Lockfile;
}

/** `@a/b@1.2.3(peer@4)` as its name and version. */
export function nameAndVersion(key: string): { readonly name: string; readonly version: string } {
  const bare = key.replace(/\(.*$/, "");
  const at = bare.lastIndexOf("@");
  return { name: bare.slice(0, at), version: bare.slice(at + 1) };
}

/** Everything that the importers' dependencies bring at run time, by the lockfile's own keys. */
export function shipped(lockfile: Lockfile, from: readonly string[]): Set<string> {
  const { importers } = lockfile;
  const found = new Set<string>();
  const rooms = new Set<string>();
  const visit = (key: string): void => {
    if (found.has(key)) return;
    found.add(key);
    for (const each of needs(lockfile, key)) visit(each);
  };
  const enter = (room: string): void => {
    if (rooms.has(room)) return;
    rooms.add(room);
    const { dependencies = {}, optionalDependencies = {} } = importers[room] ?? {};
    for (const [name, { version }] of Object.entries({
      ...dependencies,
      ...optionalDependencies,
    })) {
      const linked = /^link:(.*)$/.exec(version)?.[1];
      if (linked === undefined) visit(keyOf(name, version));
      else enter(path.posix.normalize(path.posix.join(room, linked)));
    }
  };
  for (const room of from) enter(room);
  return found;
}

/** What a package brings; of its peers not those that it can do without, which are there for others. */
export function needs({ packages, snapshots }: Lockfile, key: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = snapshots[key] ?? {};
  const { name, version } = nameAndVersion(key);
  const peers = packages[`${name}@${version}`]?.peerDependenciesMeta ?? {};
  return Object.entries({ ...dependencies, ...optionalDependencies })
    .filter(([of]) => peers[of]?.optional !== true)
    .map(([of, at]) => keyOf(of, at));
}

/** An alias names the whole package in place of a version. */
function keyOf(name: string, version: string): string {
  return /^(@[^/]+\/)?[^@(]+@/.test(version) ? version : `${name}@${version}`;
}
