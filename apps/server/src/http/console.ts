/**
 * `/`: the web console as it was built. Its files are read at the start and are served by exactly their names; its
 * page is served at its own addresses, which the build lists. Every other path stays a 404: for a browser that asks
 * for a page it is the console's own, for everybody else the API's problem.
 */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { packed } from "./packed.ts";

/** Where `pnpm console:build` puts it. */
export const CONSOLE_FOLDER = fileURLToPath(new URL("../../../console/dist", import.meta.url));

/** Their names hold a hash of what is in them: what is kept never becomes wrong. */
const FOREVER = "public, max-age=31536000, immutable";

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const NOT_BUILT =
  "The web console is not built. Build it with `pnpm console:build`, then start the server again.\n" +
  "The API is here all the same: /docs/api describes it.\n";

export interface ConsoleOptions {
  /** Where the built console is. */
  readonly folder: string;
  /** What of the issuer its page may talk to beside this server: discovery, and the token endpoint. */
  readonly issuer: readonly string[];
  /** Routes of the server, the console's own among them. All are known when the first request comes. */
  readonly routes: ReadonlySet<string>;
}

/** What a build consists of. */
interface Built {
  /** The page. */
  readonly html: Buffer;
  /** Addresses that it is served at, as routes. */
  readonly pages: readonly string[];
  /** Its files by their path. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** What Vite's manifest says of one entry. */
interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

/** Answers a path that is not there with the console's page, or says that this is none for it. */
export type LostPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

/**
 * Serves the console, or at `/` how to get it.
 *
 * @returns what a browser gets at a path that is not there
 * @throws when it is built by halves
 */
export async function webConsole(
  scope: FastifyInstance,
  { folder, issuer, routes }: ConsoleOptions,
): Promise<LostPage> {
  const built = await readBuilt(folder);
  if (built === null) {
    scope.get("/", (_request, reply) =>
      reply.code(404).header("content-type", "text/plain; charset=utf-8").send(NOT_BUILT),
    );
    return () => null;
  }
  const page = packed(() => Promise.resolve(built.html));
  const policy = policyOf(issuer);
  const asPage = (reply: FastifyReply) =>
    reply.headers({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      // It names its files by their hashes: who has an old one would ask for files that are gone.
      "cache-control": "no-cache",
    });
  for (const path of built.pages) scope.get(path, (request, reply) => page(request, asPage(reply)));
  for (const [path, bytes] of built.files) {
    const file = packed(() => Promise.resolve(bytes));
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    scope.get(`/${path}`, (request, reply) =>
      file(request, reply.headers({ "content-type": type, "cache-control": FOREVER })),
    );
  }
  const own = new Set(built.pages.map(firstOf));
  return (request, reply) => {
    // Below what programs call nobody is lost but a program, or who wrote one and reads the problem.
    const first = firstOf(request.url);
    const isOfPrograms = !own.has(first) && [...routes].some((route) => firstOf(route) === first);
    if (isOfPrograms || !asksForPage(request)) return null;
    // Not as the page is served at its own addresses: nothing of a path that is not there is kept, or answered by 304.
    return asPage(reply)
      .code(404)
      .headers({ "cache-control": "no-store", vary: "accept" })
      .send(built.html);
  };
}

/** The first part of a path or a route. */
function firstOf(path: string): string {
  return /^\/([^/?#]*)/.exec(path)?.[1] ?? "";
}

/** Whether a person's browser goes to an address: programs take what they get, and name no HTML. */
function asksForPage({ method, headers }: FastifyRequest): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && /\btext\/html\b/i.test(headers.accept ?? "");
}

/** Nothing inline, nothing from elsewhere, and nobody frames it. */
function policyOf(issuer: readonly string[]): string {
  const elsewhere = [...new Set(issuer.map((url) => ` ${new URL(url).origin}`))].join("");
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${elsewhere}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(";");
}

/** Null = nobody has built it. */
async function readBuilt(folder: string): Promise<Built | null> {
  const text = await readFile(join(folder, ".vite/manifest.json"), "utf8").catch(absent);
  if (text === null) return null;
  const manifest = JSON.parse(text) as Readonly<Record<string, ManifestEntry>>;
  const names = Object.values(manifest).flatMap(({ file, css = [], assets = [] }) => [
    file,
    ...css,
    ...assets,
  ]);
  const files = await Promise.all(
    [...new Set(names)].map(async (name) => [name, await readFile(join(folder, name))] as const),
  );
  const pages = JSON.parse(await readFile(join(folder, "pages.json"), "utf8")) as string[];
  return { html: await readFile(join(folder, "index.html")), pages, files: new Map(files) };
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
