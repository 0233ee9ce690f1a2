/** Builds the console into `dist`: names with hashes, a manifest for whoever serves it, nothing inline. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import type { Plugin } from "vite";

const PAGES = join(import.meta.dirname, "src/app/pages.json");
const API = "http://127.0.0.1:8787";

/** The server serves the page at these addresses and at no others. */
function listPages(): Plugin {
  return {
    name: "list-pages",
    generateBundle() {
      this.emitFile({
        type: "asset",
        fileName: "pages.json",
        source: readFileSync(PAGES, "utf8"),
      });
    },
  };
}

/**
 * Sonner writes its styles into the page when it loads, which the page's policy forbids. The same styles are imported
 * as a file (`app/shell.tsx`), so the writing is taken out.
 */
function noInlineStyles(): Plugin {
  const writes = "function __insertCSS(code) {";
  return {
    name: "no-inline-styles",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("/sonner/dist/index.mjs")) return null;
      if (!code.includes(writes)) throw new Error("sonner writes its styles in another way now");
      return code.replace(writes, `${writes} return;`);
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react({ jsxImportSource: "#display" }), listPages(), noInlineStyles()],
  build: {
    target: "es2022",
    manifest: true,
    // The page's policy allows nothing inline, no data: address either.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // kB before packing; `pnpm bench console` holds what a browser gets to 250 kB.
    chunkSizeWarningLimit: 800,
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": API, "/trpc": API, "/config.json": API },
  },
});
