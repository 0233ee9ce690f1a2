/** The declarations under three compilers: right programs compile, and each wrong line is an error, and no other line. */
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { CLIENT, ROOT, demand } from "../pack/command.ts";
import { compile } from "../pack/types.ts";
import { type Consumer, inFolder, pinned, versionAt } from "./stage.ts";

const COMPILERS = ["typescript-5", "typescript-6", "typescript"];
const FILES = ["quick-start.ts", "misuse.ts"];
const JOURNEYS = ["a.ts", "b.ts", "c.ts"];
/** These read the environment. */
const NODE = { lib: ["es2022"], types: ["node"] };

export const TYPES: readonly Consumer[] = COMPILERS.map((name) => {
  const home = path.join(CLIENT, "node_modules", name);
  return {
    name: "TypeScript",
    async run(stage) {
      const packages = [await pinned("packages/tools", "@types/node")];
      return inFolder(stage, { packages }, async (folder) => {
        for (const file of FILES)
          await cp(path.join(CLIENT, "examples", file), path.join(folder, file));
        for (const file of JOURNEYS)
          await cp(path.join(ROOT, "examples/sdk", file), path.join(folder, file));
        const tsc = path.join(home, "bin/tsc");
        for (const resolution of ["nodenext", "bundler"] as const) {
          await compile(folder, resolution, { files: FILES, tsc });
          await compile(folder, resolution, { files: JOURNEYS, libraries: NODE, tsc });
        }
        const mistakes = await exactly(folder, tsc);
        return {
          versions: `typescript ${await versionAt(home)}`,
          ran: `nodenext and bundler, ${FILES.length + JOURNEYS.length} programs, ${mistakes} mistakes where they are`,
        };
      });
    },
  };
});

/** Without the expectations: the lines below them are errors, and no others. */
async function exactly(folder: string, tsc: string): Promise<number> {
  const source = await readFile(path.join(folder, "misuse.ts"), "utf8");
  const wanted = source
    .split("\n")
    .flatMap((line, at) => (line.includes("@ts-expect-error") ? [at + 2] : []));
  await writeFile(path.join(folder, "bare.ts"), source.replaceAll("@ts-expect-error", "mistake:"));
  const output = await compile(folder, "nodenext", { files: ["bare.ts"], tsc }).catch(String);
  const lines = [...output.matchAll(/^bare\.ts\((\d+),/gm)].map((match) => Number(match[1]));
  const found = [...new Set(lines)].toSorted((a, b) => a - b);
  demand(
    wanted.length > 0 && found.join() === wanted.join(),
    `mistakes are on lines ${wanted.join()}, errors on ${found.join()}:\n${output}`,
  );
  return wanted.length;
}
