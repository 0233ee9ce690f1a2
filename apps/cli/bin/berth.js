#!/usr/bin/env node
// Plain JavaScript, and nothing else imported before the cache is on: a start then compiles nothing.
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

if (nodeModule.stripTypeScriptTypes === undefined) {
  process.stderr.write(`berth: needs Node 22.23, 24.17 or newer, and this is ${process.version}\n`);
  process.exit(2);
}
// In our own folder, never in the system's temporary one, where somebody else could put code for us.
nodeModule.enableCompileCache(
  fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)),
);
const { main } = await import("../src/main.ts");
await main();
