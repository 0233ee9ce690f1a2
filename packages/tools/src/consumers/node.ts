/** Apps of Node, by its two kinds of modules, on every Node that is here. */
import { type Program, nodes } from "./programs.ts";
import { Absent, type Consumer, type Told, expectWorked, inFolder, lineOf } from "./stage.ts";

export async function nodeConsumers(): Promise<Consumer[]> {
  const found = await nodes();
  return found.flatMap((node) => [
    { name: `Node ESM`, run: (stage) => app(stage, node, "esm.mjs") },
    { name: `Node CommonJS`, run: (stage) => app(stage, node, "common.cjs") },
  ]);
}

async function app(
  stage: Parameters<Consumer["run"]>[0],
  node: Program,
  file: string,
): Promise<Told> {
  return inFolder(stage, { apps: [file, "work.mjs"] }, async (folder) => {
    if (file.endsWith(".cjs")) await expectRequire(stage, node, folder);
    const ran = expectWorked(await lineOf(stage, { folder }, [node.file, file]));
    return {
      versions: `node ${node.version}`,
      ran: file.endsWith(".cjs") ? `require: ${ran}` : ran,
    };
  });
}

/** From 20.19 and 22.12 on an ES module can be required. */
async function expectRequire(stage: Parameters<Consumer["run"]>[0], node: Program, folder: string) {
  const asked = await lineOf(stage, { folder }, [
    node.file,
    "-p",
    "process.features.require_module",
  ]);
  if (asked !== "true") throw new Absent(`Node ${node.version} requires no ES module`);
}
