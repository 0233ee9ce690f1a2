/** What of the page of versions and support goes with the client: packages/client/SUPPORT.md, in its tarball. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Generated } from "./generate.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const SOURCE = "apps/docs/reference/support.md";
/** Of no use to who installs the client. */
const SERVERS = "What servers run on";

export function generateSupport(): Generated {
  const text = readFileSync(path.join(ROOT, SOURCE), "utf8");
  const sections = text.split(/^(?=## )/m);
  const kept = sections.filter((section) => !section.startsWith(`## ${SERVERS}\n`));
  if (kept.length !== sections.length - 1) throw new Error(`${SOURCE} has no section "${SERVERS}"`);
  const mark = `<!-- Generated from ${SOURCE}: run \`pnpm generate\`, do not edit. -->\n\n`;
  return { path: "packages/client/SUPPORT.md", text: mark + inTarball(kept.join("")) };
}

/** Other pages are not in a tarball: what links to them is text there. */
const inTarball = (text: string) =>
  text.replaceAll(/\[([^\]]+)\]\((?![a-z]+:|#)[^)]*\)/g, (_link, words: string) => words);
