/**
 * `pnpm console:build`: builds the console when its sources are others than those of the last build, and says nothing
 * otherwise. `--force` builds in any case.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;
const STAMP = join(HERE, "dist/.stamp");

/** What decides how a build turns out: the sources, the client's, and the versions of everything else. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = [
    ...globSync("{src/**/*.*,index.html,package.json,vite.config.ts}", { cwd: HERE }),
    ...globSync("../../packages/client/src/**/*.ts", { cwd: HERE }),
    "../../pnpm-lock.yaml",
  ];
  for (const file of sources.filter((name) => !name.includes(".test.")).toSorted())
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(HERE, file)))
      .update("\0");
  return hash.digest("hex");
}

function stamp(): string | null {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return null;
  }
}

const wanted = fingerprint();
if (process.argv.includes("--force") || stamp() !== wanted) {
  const started = performance.now();
  process.stderr.write("Building the web console…\n");
  const { build } = await import("vite");
  await build({ configFile: join(HERE, "vite.config.ts"), logLevel: "warn" });
  writeFileSync(STAMP, wanted);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`The web console is built (${seconds} s).\n`);
}
