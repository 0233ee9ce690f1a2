/** The web console as the server serves it: its own files by exactly their names, its page at its own addresses. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeIssuer } from "@berth/api/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, startServer } from "../harness.ts";

const HTML = `<!doctype html><script type="module" src="/assets/main-abc.js"></script>`;
const SCRIPT = "console.log('berth');".repeat(100);

let folder: string;
let server: TestServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-console-"));
  await Promise.all([".vite", "assets"].map((name) => mkdir(join(folder, name))));
  const manifest = {
    "index.html": { file: "assets/main-abc.js", css: ["assets/main-def.css"], isEntry: true },
    "src/icon.svg": { file: "assets/icon-123.svg" },
  };
  const files = {
    "index.html": HTML,
    "pages.json": `["/", "/pools", "/pools/:poolId", "/book"]`,
    ".vite/manifest.json": JSON.stringify(manifest),
    "assets/main-abc.js": SCRIPT,
    "assets/main-def.css": "body{}",
    "assets/icon-123.svg": "<svg/>",
    "assets/left-over.js": "of the build before",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  server = await startServer({ consoleFolder: folder });
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** What browsers say when a person goes to an address. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers });

describe("the page", () => {
  it.each(["/", "/pools", "/pools/pool_06h2", "/book", "/book?gpus=16"])(
    "is at %s",
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await answer.text()).toBe(HTML);
    },
  );

  it("may load from its own server alone, has nothing inline, and is framed by nobody", async () => {
    const policy = (await get("/")).headers.get("content-security-policy") ?? "";
    const directives = policy.split(";");
    expect(directives).toContain("default-src 'none'");
    expect(directives).toContain("script-src 'self'");
    expect(directives).toContain("style-src 'self'");
    expect(directives).toContain("connect-src 'self'");
    expect(directives).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|http|\*|data:/);
  });

  it("is asked for anew each time, and not sent again while it is the same", async () => {
    const first = await get("/pools");
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const again = await get("/pools", { "if-none-match": first.headers.get("etag") ?? "" });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it.each(["/pools/a/b", "/boo", "/index.html", "/admin", "/book.html"])(
    "is not at %s",
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    },
  );

  it.each(["/pools/a/b", "/boo", "/index.html", "/admin", "/no/such%20page?x=1"])(
    "says by itself that it has no %s, to a browser that goes there",
    async (path) => {
      const answer = await get(path, { accept: BROWSER });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("vary")).toContain("accept");
      expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
      expect(await answer.text()).toBe(HTML);
      const { headers } = await get("/book");
      const known = { accept: BROWSER, "if-none-match": headers.get("etag") ?? "" };
      expect((await get(path, known)).status).toBe(404);
    },
  );

  it.each([
    "/api",
    "/api/compute/pools/nothing",
    "/trpc/nothing.there/x",
    "/v1/nodes/none",
    "/docs/nothing",
    "/assets/left-over.js",
    "/healthz/more",
  ])("is not what a browser gets at %s: that is for programs", async (path) => {
    const answer = await get(path, { accept: BROWSER });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
  });

  it("is for who reads: what is sent to nowhere is answered as to a program", async () => {
    const answer = await fetch(`${server.url}/boo`, {
      method: "POST",
      headers: { accept: BROWSER },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
  });

  it("is only read", async () => {
    const { status, headers } = await fetch(`${server.url}/pools`, { method: "POST" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("its files", () => {
  it.each([
    ["/assets/main-abc.js", "text/javascript; charset=utf-8", SCRIPT],
    ["/assets/main-def.css", "text/css; charset=utf-8", "body{}"],
    ["/assets/icon-123.svg", "image/svg+xml", "<svg/>"],
  ])("%s is kept for good", async (path, type, text) => {
    const answer = await get(path);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await answer.text()).toBe(text);
  });

  it("are packed for who takes it packed", async () => {
    const answer = await get("/assets/main-abc.js", { "accept-encoding": "br" });
    expect(answer.headers.get("content-encoding")).toBe("br");
    expect(answer.headers.get("vary")).toContain("accept-encoding");
    expect(await answer.text()).toBe(SCRIPT);
  });

  it.each([
    "/assets/left-over.js",
    "/assets/",
    "/assets/main-abc.js.map",
    "/assets/MAIN-ABC.js",
    "/.vite/manifest.json",
    "/pages.json",
    "/assets/..%2Findex.html",
    "/assets/%2e%2e/%2e%2e/package.json",
    "/.stamp",
  ])("are served by exactly their names: %s is none", async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

it("with an issuer the page may talk to that one and its token endpoint beside its own server", async () => {
  const issuer = await fakeIssuer();
  const settings = issuer.settings({ roleClaims: [["realm_access", "roles"]] });
  const tokenUri = "https://tokens.example.com/token";
  const config = { oidc: { settings, clientId: "console", tokenUri } };
  const signing = await startServer({ consoleFolder: folder, config });
  try {
    const { headers } = await fetch(`${signing.url}/book`);
    const { origin } = new URL(issuer.url);
    expect(headers.get("content-security-policy")).toContain(
      `;connect-src 'self' ${origin} https://tokens.example.com;`,
    );
  } finally {
    await signing.stop();
    await issuer.close();
  }
});

it("while it is not built, / says how to build it, and the API is there", async () => {
  const bare = await startServer();
  try {
    const answer = await fetch(`${bare.url}/`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("pnpm console:build");
    expect((await fetch(`${bare.url}/pools`)).status).toBe(404);
    const lost = await fetch(`${bare.url}/boo`, { headers: { accept: BROWSER } });
    expect(lost.headers.get("content-type")).toBe("application/problem+json");
    expect((await fetch(`${bare.url}/healthz`)).status).toBe(200);
  } finally {
    await bare.stop();
  }
});
