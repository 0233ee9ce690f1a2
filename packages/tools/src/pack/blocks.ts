/** Every block of TypeScript in the documents that the tarball brings along, compiled against the tarball. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { demand } from "./command.ts";
import { compile } from "./types.ts";

const DOCUMENTS = ["README.md", "skills/berth/SKILL.md"];

/** What the documents speak of without saying where it comes from. */
const GIVEN = `
import type { Berth, BookingRequest, Reservation } from "@berth/client";
declare global {
  const berth: Berth;
  const tenantId: string;
  const poolId: string;
  const profileId: string;
  const ask: BookingRequest;
  function train(held: Reservation, more: { signal: AbortSignal }): Promise<void>;
}
`;

/** The folder has the tarball and its peers installed. */
export async function blocks(folder: string): Promise<string> {
  await writeFile(path.join(folder, "given.d.ts"), GIVEN);
  const files = ["given.d.ts"];
  for (const document of DOCUMENTS) {
    const text = await readFile(path.join(folder, "node_modules/@berth/client", document), "utf8");
    const found = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map((match) => match[1] ?? "");
    demand(found.length > 0, `${document} holds no block of TypeScript`);
    for (const [at, code] of found.entries()) {
      const file = `${path.basename(document, ".md")}-${at + 1}.ts`;
      await writeFile(path.join(folder, file), `${code}\nexport {};\n`);
      files.push(file);
    }
  }
  const libraries = { lib: ["es2022", "dom"], types: ["node"] };
  await compile(folder, "bundler", { files, libraries });
  return `${files.length - 1} blocks of ${DOCUMENTS.join(" and ")}`;
}
