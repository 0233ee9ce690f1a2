/** The OpenAPI document, as the contract's room generated it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The document's text. */
export function openapi(): string {
  const here = createRequire(import.meta.url);
  return readFileSync(here.resolve("@berth/contract/openapi.json"), "utf8");
}
