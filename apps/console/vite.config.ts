/** Builds the console into `dist`: names with hashes, a manifest for whoever serves it, nothing inline. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    target: "es2022",
    manifest: true,
    // The policy of the page allows no inline script and no data: address but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  server: {
    host: "127.0.0.1",
    // The API of a server that runs beside it: `pnpm demo`.
    proxy: {
      "/api": "http://127.0.0.1:8787",
      "/trpc": "http://127.0.0.1:8787",
      "/console": "http://127.0.0.1:8787",
    },
  },
});
