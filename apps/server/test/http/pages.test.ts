/** What people open: a page an error, and the API's reference, all of it from the server itself. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import http from "node:http";
import { ERROR_KINDS } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, startServer } from "../harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const STRICT = "default-src 'none';base-uri 'none';frame-ancestors 'none'";

interface Got {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** As it comes over the line: fetch would unpack it. */
function get(path: string, headers: Record<string, string> = {}): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>();
  http
    .get(`${server.url}${path}`, { headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      );
    })
    .on("error", reject);
  return promise;
}

/** Addresses that a browser would load something from by itself. */
function loaded(page: string): string[] {
  return [...page.matchAll(/<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"/g)].map(
    ([, address = ""]) => address,
  );
}

describe("the pages of errors", () => {
  it.each([...ERROR_KINDS.keys()])(
    "%s says what it means and what to do, as HTML and as Markdown",
    async (name) => {
      const kind = ERROR_KINDS.get(name);
      const page = await get(`/docs/errors/${name}`);
      expect([page.status, page.headers["content-type"]]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(page.headers["content-security-policy"]).toBe(STRICT);
      const text = page.body.toString();
      expect(text).toContain(`<h1>${kind?.title}</h1>`);
      expect(text).toContain("What to do");
      expect(loaded(text)).toEqual([]);
      for (const other of [
        await get(`/docs/errors/${name}.md`),
        await get(`/docs/errors/${name}`, { accept: "text/markdown" }),
      ]) {
        expect(other.headers["content-type"]).toBe("text/markdown; charset=utf-8");
        expect(other.body.toString()).toContain(`# ${kind?.title}\n`);
      }
    },
  );

  it("link to each other, and to nothing that is not there", async () => {
    const seen = new Set(["/docs/errors"]);
    for (const path of seen) {
      const { status, body } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      for (const [, link = ""] of body.toString().matchAll(/href="([^"]*)"/g)) seen.add(link);
    }
    expect(seen.size).toBe(ERROR_KINDS.size + 1);
  });

  it.each(["nothing", "..%2f..%2fetc%2fpasswd", "NO-CAPACITY", "no-capacity.html"])(
    "there is none of %s",
    async (name) => {
      const { status, headers } = await get(`/docs/errors/${name}`);
      expect([status, headers["content-type"]]).toEqual([404, "application/problem+json"]);
    },
  );
});

describe("the API's reference", () => {
  it("loads from this server alone, and may not load from elsewhere", async () => {
    const { status, headers, body } = await get("/docs/api");
    expect(status).toBe(200);
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    const text = body.toString();
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/<script>|\son\w+=/);
    const scripts = loaded(text).map((address) => new URL(address, `${server.url}/docs/api`));
    expect(scripts.map(({ pathname }) => pathname)).toEqual([
      "/docs/api/scalar.js",
      "/docs/api/start.js",
    ]);
    for (const { pathname } of scripts) {
      const script = await get(pathname);
      expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
      expect(script.headers["cache-control"]).toMatch(/^public, max-age=\d+$/);
      expect(script.headers["content-security-policy"]).toBe(STRICT);
    }
  });

  it("asks for no fonts, figures, assistants or proxies", async () => {
    const text = (await get("/docs/api/start.js")).body.toString();
    const options = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as object;
    expect(options).toMatchObject({
      url: "../openapi.json",
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
    });
    expect(text).not.toMatch(/https?:\/\//);
  });

  it("sends its script packed to who takes it so, and the same to everyone", async () => {
    const plain = await get("/docs/api/scalar.js");
    const gzip = await get("/docs/api/scalar.js", { "accept-encoding": "gzip" });
    const brotli = await get("/docs/api/scalar.js", { "accept-encoding": "gzip, br;q=0.9" });
    const refused = await get("/docs/api/scalar.js", { "accept-encoding": "br;q=0, gzip;q=0.0" });
    const named = [plain, gzip, brotli, refused].map(({ headers }) => headers["content-encoding"]);
    expect(named).toEqual([undefined, "gzip", "br", undefined]);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(brotli.body.length).toBeLessThan(plain.body.length / 3);
    for (const { headers } of [plain, gzip, brotli]) expect(headers.vary).toBe("accept-encoding");
  });

  it("has the document packed as well, and every other address keeps the strict policy", async () => {
    const packed = await get("/openapi.json", { "accept-encoding": "br" });
    const plain = await get("/openapi.json");
    expect(brotliDecompressSync(packed.body).equals(plain.body)).toBe(true);
    for (const path of ["/openapi.json", "/healthz", "/nowhere", "/docs", "/docs/errors"])
      expect((await get(path)).headers["content-security-policy"]).toBe(STRICT);
  });

  it.each(["/docs/api/scalar.js", "/openapi.json"])(
    "sends %s to nobody who has it already, in whichever form",
    async (path) => {
      const tags: unknown[] = [];
      for (const form of ["identity", "gzip", "br"]) {
        const { status, headers } = await get(path, { "accept-encoding": form });
        expect(status).toBe(200);
        const etag = headers.etag ?? "";
        expect(etag).toMatch(/^"[\w-]{43}"$/);
        tags.push(etag);
        for (const known of [etag, `"older", W/${etag}`]) {
          const again = await get(path, { "accept-encoding": form, "if-none-match": known });
          expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
          expect(again.headers["cache-control"]).toBe(headers["cache-control"]);
        }
        const other = await get(path, { "accept-encoding": form, "if-none-match": '"older"' });
        expect(other.status).toBe(200);
      }
      expect(new Set(tags).size).toBe(3);
    },
  );
});
