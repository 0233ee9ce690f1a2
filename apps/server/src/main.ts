/** `berth` without the commands for people: what a container starts. */
import { outliveReaders } from "./commands/output.ts";
import { keepCompiled } from "./compile-cache.ts";

keepCompiled();
outliveReaders();
// Not before: what is imported above is compiled anew at every start.
const { runOperatorCommand } = await import("./commands/run.ts");
await runOperatorCommand();
