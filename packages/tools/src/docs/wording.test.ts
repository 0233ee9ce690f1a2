/** What texts say of the API is held against the contract, where newcomers were led astray before. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { METHOD_NAMES, catalog } from "@berth/contract";
import { describe, expect, it } from "vitest";
import { ROOT } from "./pages.ts";

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const GUIDES = ["README.md", "packages/client/README.md", "apps/docs/**/*.md", "examples/**/*"];
const files = globSync([...GUIDES, "packages/client/{src,skills}/**/*"], {
  cwd: ROOT,
  exclude: (name) => /node_modules|dist|\.vitepress|\.test\.ts$/.test(name),
}).filter((file) => /\.(?:md|ts|sh|py)$/.test(file));

describe("an example", () => {
  it("names a GPU model as a whole, as it is matched: one that the demo's fleet has, or a page's own", () => {
    const own = new Set(["NVIDIA-H200"]);
    const fleet = new Set(
      [...read("apps/server/demo-fleet.json").matchAll(/"model": ?"([^"]+)"/g)].map(
        ([, model = ""]) => model,
      ),
    );
    expect(fleet.size).toBeGreaterThan(3);
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/\b(?:model|gpuModel): "([^"]+)"/g)].map(([, model = ""]) => ({
        file,
        model,
      })),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(({ model }) => !fleet.has(model) && !own.has(model))).toEqual([]);
  });
});

describe("a text", () => {
  it("that says that methods are POSTs says so of the stream as well", () => {
    expect(METHOD_NAMES.some((name) => catalog[name].kind === "subscription")).toBe(true);
    const paragraphs = files.flatMap((file) =>
      read(file)
        .split(/\n\s*\n/)
        .filter((text) => text.includes("POST /api/compute/{group}/{method}"))
        .map((text) => ({ file, text })),
    );
    expect(paragraphs.length).toBeGreaterThan(2);
    expect(paragraphs.filter(({ text }) => !/stream/.test(text))).toEqual([]);
  });

  it("that tells of withBerth says where the server comes from", () => {
    const told = ["README.md", "packages/client/README.md", "apps/docs/testing.md"].map((file) => ({
      file,
      text: read(file),
    }));
    const silent = told.filter(
      ({ text }) =>
        !/withBerth\(\)/.test(text) || !/BERTH_COMMAND/.test(text) || !/clone/.test(text),
    );
    expect(silent.map(({ file }) => file)).toEqual([]);
  });

  it("the README's way to the first pool names what pools.create has to be given", () => {
    const { components } = JSON.parse(read("packages/contract/openapi.json")) as {
      readonly components: { readonly schemas: Record<string, { readonly required?: string[] }> };
    };
    const { required = [] } = components.schemas["CreatePoolInput"] ?? {};
    expect(required.length).toBeGreaterThan(2);
    const paragraph = read("README.md")
      .split(/\n\s*\n/)
      .find((text) => text.includes("`pools.create`"));
    // Clients make the key.
    const missing = required.filter(
      (field) => field !== "idempotencyKey" && !paragraph?.includes(`\`${field}\``),
    );
    expect(missing).toEqual([]);
  });
});
