import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    react: "src/react.ts",
    otel: "src/otel.ts",
    testing: "src/testing/index.ts",
  },
  format: "esm",
  // A file a module: declarations keep their names, and what is loaded on first use is a file of its own.
  unbundle: true,
  deps: { neverBundle: /^node:/ },
  platform: "neutral",
  target: "es2022",
  // A hold can be disposed of: `AsyncDisposable` is in a library that not every program names.
  dts: true,
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  fixedExtension: false,
});
