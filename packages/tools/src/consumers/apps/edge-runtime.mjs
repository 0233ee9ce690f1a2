/** Runs a bundle as an edge runtime does: a global object of the web's names alone, no module, no code made of text. */
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const WEB = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "Event",
  "EventTarget",
  "FormData",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setTimeout",
];

const globals = Object.fromEntries(WEB.map((name) => [name, globalThis[name]]));
const realm = createContext(globals, { codeGeneration: { strings: false, wasm: false } });
runInContext(readFileSync(process.argv[2], "utf8"), realm);
console.log(await realm.handle(process.env.BERTH_URL, process.env.BERTH_TOKEN));
