/**
 * `/docs/api`: the OpenAPI document for people, by Scalar. All of it comes from this server: its script is the
 * one of the installed package, read when somebody first opens the page, and the page may load from nowhere else.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { packed } from "./packed.ts";

/** Scalar writes its styles into the page; scripts it has in files alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");

/** Of this server's version, and asked for again when that may be another. */
const CACHE = "public, max-age=3600";

const PAGE =
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>The API · Berth</title>` +
  `<meta name="viewport" content="width=device-width, initial-scale=1"><div id="app"></div>` +
  `<script src="api/scalar.js"></script><script src="api/start.js"></script></html>\n`;

/** What it does not do: load fonts, send figures, ask an assistant, go through a proxy, keep tokens. */
const START = `Scalar.createApiReference("#app", ${JSON.stringify(
  {
    url: "../openapi.json",
    withDefaultFonts: false,
    telemetry: false,
    persistAuth: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "direct",
    agent: { disabled: true },
    mcp: { disabled: true },
  },
  null,
  2,
)});\n`;

export function reference(app: FastifyInstance): void {
  const scalar = packed(() => {
    const index = createRequire(import.meta.url).resolve("@scalar/api-reference");
    return readFile(join(dirname(index), "browser/standalone.js"));
  });
  const script = (reply: FastifyReply) =>
    reply.headers({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": CACHE,
    });
  app.get("/docs/api", (_request, reply) =>
    reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "cache-control": CACHE,
      })
      .send(PAGE),
  );
  app.get("/docs/api/start.js", (_request, reply) => script(reply).send(START));
  app.get("/docs/api/scalar.js", (request, reply) => scalar(request, script(reply)));
}
