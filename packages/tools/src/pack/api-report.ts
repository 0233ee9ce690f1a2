/**
 * What each entry gives its users, as api-extractor reports it: committed under packages/client/api, so that a change
 * of it is seen in a review. `pnpm pack:check --write` renews the reports.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CLIENT, bin, command, demand } from "./command.ts";

const ENTRIES = ["index", "react", "otel", "testing"];

/** Of the built declarations in packages/client/dist. */
export async function apiReport(isWriting: boolean): Promise<string> {
  // Inside the package: api-extractor looks for its package.json from there upwards.
  const folder = await mkdtemp(path.join(CLIENT, "dist/.api-"));
  try {
    const stale: string[] = [];
    let lines = 0;
    for (const entry of ENTRIES) {
      const file = path.join(CLIENT, "api", `${entry}.api.md`);
      const report = await reportOf(entry, folder);
      lines += report.split("\n").length;
      if ((await readFile(file, "utf8").catch(() => "")) === report) continue;
      if (isWriting) await writeFile(file, report);
      else stale.push(`packages/client/api/${entry}.api.md`);
    }
    const what =
      "differs from what the package gives: if that is meant, run pnpm pack:check --write";
    demand(stale.length === 0, `${stale.join(", ")} ${what}`);
    return `${ENTRIES.length} entries, ${lines} lines${isWriting ? ", written" : ", as committed"}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function reportOf(entry: string, folder: string): Promise<string> {
  const config = path.join(folder, `${entry}.json`);
  const settings = {
    projectFolder: CLIENT,
    mainEntryPointFilePath: `<projectFolder>/dist/${entry}.d.ts`,
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: "es2022",
          module: "nodenext",
          moduleResolution: "nodenext",
          lib: ["es2022", "dom", "esnext.disposable"],
          types: [],
          strict: true,
          skipLibCheck: true,
        },
        files: [path.join(CLIENT, `dist/${entry}.d.ts`)],
      },
    },
    apiReport: {
      enabled: true,
      reportFileName: `${entry}.api.md`,
      reportFolder: folder,
      reportTempFolder: path.join(folder, "temp"),
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: "lf",
    messages: {
      compilerMessageReporting: { default: { logLevel: "error" } },
      extractorMessageReporting: {
        default: { logLevel: "error", addToApiReportFile: false },
        // There is one stage: what is exported is public.
        "ae-missing-release-tag": { logLevel: "none" },
        "ae-unresolved-link": { logLevel: "none" },
        // What the other entries speak of is exported by the core.
        "ae-forgotten-export": {
          logLevel: entry === "index" ? "error" : "none",
          addToApiReportFile: false,
        },
      },
      // Our docstrings are Markdown, not TSDoc.
      tsdocMessageReporting: { default: { logLevel: "none" } },
    },
  };
  await writeFile(config, JSON.stringify(settings));
  await command(CLIENT, bin("api-extractor"), ["run", "--local", "--config", config]);
  return readFile(path.join(folder, `${entry}.api.md`), "utf8");
}
