/**
 * `node packages/tools/src/sbom.ts [server|client]`: what is shipped, as a CycloneDX document on standard output:
 * every package that runs, with its version, licence and hash. Made of the lockfile and of what is installed, so it
 * asks nobody, and the same lockfile always gives the same bytes.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Lockfile, ROOT, nameAndVersion, needs, readLockfile, shipped } from "./lockfile.ts";

/** The rooms that each of the two is made of. */
const SHIPPED: Readonly<Record<string, string>> = {
  server: "apps/server",
  client: "packages/client",
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

export function sbom(what: string, root: string = ROOT): object {
  const room = SHIPPED[what];
  if (room === undefined)
    throw new Error(`there is no ${what}; there are ${Object.keys(SHIPPED).join(", ")}`);
  const lockfile = readLockfile(path.join(root, "pnpm-lock.yaml"));
  const keys = [...shipped(lockfile, [room])].toSorted();
  const licenses = installedLicenses(root);
  const own = manifest(path.join(root, room, "package.json"));
  const components = unique(keys.map((key) => component(key, lockfile, licenses)));
  const body = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: what === "server" ? "application" : "library",
        "bom-ref": own.name,
        name: own.name,
        version: own.version,
        licenses: licensesOf(own.license),
      },
    },
    components,
    dependencies: dependencies(own.name, { room, keys, lockfile }),
  };
  return { serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`, ...body };
}

function component(
  key: string,
  { packages }: Lockfile,
  licenses: ReadonlyMap<string, string>,
): Component {
  const { name, version } = nameAndVersion(key);
  const integrity = packages[`${name}@${version}`]?.resolution.integrity ?? "";
  return {
    type: "library",
    "bom-ref": purl(key),
    name,
    version,
    purl: purl(key),
    hashes: [
      {
        alg: "SHA-512",
        content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex"),
      },
    ],
    // Of another platform's package, which is not installed here, it is not known.
    licenses: licensesOf(licenses.get(`${name}@${version}`)),
  };
}

interface Component {
  readonly "bom-ref": string;
  readonly [field: string]: unknown;
}

/** The same package with several sets of peers is one component. */
function unique(components: readonly Component[]): Component[] {
  return [...new Map(components.map((each) => [each["bom-ref"], each])).values()];
}

function purl(key: string): string {
  const { name, version } = nameAndVersion(key);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function licensesOf(license: string | undefined): object[] {
  if (license === undefined) return [];
  return /^[A-Za-z0-9.+-]+$/.test(license)
    ? [{ license: { id: license } }]
    : [{ expression: license }];
}

function dependencies(
  own: string,
  { room, keys, lockfile }: { room: string; keys: readonly string[]; lockfile: Lockfile },
): object[] {
  const direct = Object.entries(lockfile.importers[room]?.dependencies ?? {})
    .filter(([, { version }]) => !version.startsWith("link:"))
    .map(([name, { version }]) => purl(`${name}@${version}`));
  const below = new Map<string, Set<string>>();
  for (const key of keys) {
    const refs = below.get(purl(key)) ?? new Set<string>();
    for (const each of needs(lockfile, key)) refs.add(purl(each));
    below.set(purl(key), refs);
  }
  const rows = [...below].map(([ref, refs]) => ({ ref, dependsOn: [...refs].toSorted() }));
  return [
    { ref: own, dependsOn: direct.toSorted() },
    ...rows.toSorted((a, b) => (a.ref < b.ref ? -1 : 1)),
  ];
}

/** By `name@version`, of what is installed. */
function installedLicenses(root: string): Map<string, string> {
  const store = path.join(root, "node_modules/.pnpm");
  return new Map(
    globSync("*/node_modules/{*,@*/*}/package.json", { cwd: store }).flatMap((file) => {
      const { name, version, license } = manifest(path.join(store, file));
      return typeof license === "string" ? [[`${name}@${version}`, license] as const] : [];
    }),
  );
}

function manifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}

/** A name-based UUID (RFC 9562, version 8): a document has one name, whoever makes it and when. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(sbom(process.argv[2] ?? "server"), null, 2)}\n`);
