/**
 * `pnpm consumers [NAME…]`: apps of other teams. Packs the real tarball once, installs it for each app in an empty folder
 * outside the workspace, builds the app and runs it against one real server. Ends with a table and `N passed, N failed`;
 * exit 1 if any failed. An app whose runtime is not on this machine is skipped, and that is said.
 *
 * `pnpm consumers --record`: writes down what the packed client sends and is answered, for the test that holds later
 * servers to it: see CONTRIBUTING.md.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { withBerth } from "@berth/client/testing";
import { pack } from "../pack/tarball.ts";
import { BROWSER } from "./browser.ts";
import { nodeConsumers } from "./node.ts";
import { OTEL, REACT } from "./peers.ts";
import { QUICK_START } from "./quick-start.ts";
import { record } from "./record.ts";
import { BUN, DENO, EDGE } from "./runtimes.ts";
import { Absent, type Consumer, SERVER, type Stage, type Told, tenantOf } from "./stage.ts";
import { TYPES } from "./types.ts";

interface Row extends Told {
  readonly name: string;
  readonly how: "ok" | "FAILED" | "skipped";
  readonly seconds: number;
}

async function tried(consumer: Consumer, stage: Stage): Promise<Row> {
  const started = performance.now();
  const row = (how: Row["how"], told: Told): Row => ({
    name: consumer.name,
    how,
    seconds: (performance.now() - started) / 1_000,
    ...told,
  });
  try {
    return row("ok", await consumer.run(stage));
  } catch (error) {
    const ran = error instanceof Error ? error.message : String(error);
    return row(error instanceof Absent ? "skipped" : "FAILED", { versions: "", ran });
  }
}

function print(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(({ versions }) => versions.length));
  for (const { name, how, versions, ran, seconds } of rows) {
    const [line = "", ...more] = ran.split("\n");
    const time = `${seconds.toFixed(1).padStart(5)} s`;
    process.stdout.write(
      `${how.padEnd(7)} ${name.padEnd(14)} ${versions.padEnd(width)} ${time}  ${line}\n`,
    );
    for (const each of more) process.stdout.write(`        ${each}\n`);
  }
}

async function run(tarball: string, names: readonly string[]): Promise<void> {
  await using server = await withBerth({ command: SERVER, fleet: "demo" });
  const stage = { tarball, url: server.url, token: tenantOf(server) };
  const all = [
    QUICK_START,
    ...(await nodeConsumers()),
    BROWSER,
    BUN,
    DENO,
    EDGE,
    ...TYPES,
    REACT,
    OTEL,
  ];
  const asked = all.filter(({ name }) => names.length === 0 || names.includes(name));
  const rows: Row[] = [];
  for (const consumer of asked) {
    const row = await tried(consumer, stage);
    process.stdout.write(`${row.how.padEnd(7)} ${row.name} ${row.versions}\n`);
    rows.push(row);
  }
  process.stdout.write("\n");
  print(rows);
  const count = (how: Row["how"]) => rows.filter((row) => row.how === how).length;
  const skipped = count("skipped");
  const missing = rows
    .filter(({ how }) => how === "skipped")
    .map(({ name, ran }) => `${name} (${ran})`);
  if (skipped > 0) process.stdout.write(`\nNOT RUN, so not proved here: ${missing.join("; ")}\n`);
  const failed = count("FAILED") + (rows.length === 0 ? 1 : 0);
  const more = skipped > 0 ? `, ${skipped} skipped` : "";
  process.stdout.write(`\n${count("ok")} passed, ${failed} failed${more}\n`);
  if (failed > 0) process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<void> {
  const packed = await mkdtemp(path.join(tmpdir(), "berth-pack-"));
  try {
    const tarball = await pack(packed);
    if (args.includes("--record")) await record(tarball);
    else await run(tarball, args);
  } finally {
    await rm(packed, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
