/** Stands for `berth` in tests of starting and stopping it: `node stub-berth.ts MODE serve --ephemeral --with-parent`. */
import { writeFileSync } from "node:fs";

const [mode, ...args] = process.argv.slice(2);

if (args.join(" ") !== "serve --ephemeral --with-parent") {
  process.stderr.write(`unexpected: ${args.join(" ")}\n`);
  process.exit(2);
}
if (mode === "fails") {
  process.stderr.write("no disk is left\n");
  process.exit(3);
}
process.stdout.write("a line that is not it\n{\n");
if (mode !== "silent") {
  const ready = {
    url: "http://127.0.0.1:9",
    token: process.env["STUB_TOKEN"] ?? "t",
    pid: process.pid,
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
process.stdin
  .on("end", () => {
    const file = process.env["STUB_END"];
    if (file !== undefined) writeFileSync(file, "its parent is gone");
    process.exit(0);
  })
  .resume();
if (mode === "stubborn") process.on("SIGTERM", () => undefined);
setInterval(() => undefined, 60_000);
