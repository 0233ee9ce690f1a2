/**
 * `pnpm console:build`: builds the console when its sources are others than those of the last build, and says nothing
 * otherwise. `--force` builds in any case.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;
const DIST = join(HERE, "dist");

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
    return readFileSync(join(DIST, ".stamp"), "utf8");
  } catch {
    return null;
  }
}

/** Elsewhere first, then put in place: a server that starts meanwhile finds the old build or the new one, whole. */
async function build(wanted: string): Promise<void> {
  const next = join(HERE, `node_modules/.console-${process.pid}`);
  const old = `${next}-old`;
  const vite = await import("vite");
  await vite.build({
    configFile: join(HERE, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: next },
  });
  writeFileSync(join(next, ".stamp"), wanted);
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(next, DIST);
  rmSync(old, { recursive: true, force: true });
}

const wanted = fingerprint();
if (process.argv.includes("--force") || stamp() !== wanted) {
  const started = performance.now();
  process.stderr.write("Building the web console…\n");
  await build(wanted);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`The web console is built (${seconds} s).\n`);
}
