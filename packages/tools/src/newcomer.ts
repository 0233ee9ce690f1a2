/**
 * `pnpm newcomer`: somebody who never heard of Berth types the quick start of the client's README. Starts `berth serve
 * --ephemeral`, makes an empty folder, installs the tarball, runs the README's program, and prints what each took; exit
 * 1 when no GPU is booked at its end. Packing is the publisher's and does not count.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { withBerth } from "@berth/client/testing";
import { typeQuickStart } from "./consumers/quick-start.ts";
import { SERVER, tenantOf } from "./consumers/stage.ts";
import { pack } from "./pack/tarball.ts";

const packed = await mkdtemp(path.join(tmpdir(), "berth-pack-"));
try {
  const tarball = await pack(packed);
  const started = performance.now();
  await using server = await withBerth({ command: SERVER, fleet: "demo" });
  const serving = performance.now() - started;
  const stage = { tarball, url: server.url, token: tenantOf(server) };
  const { steps, line, node } = await typeQuickStart(stage);
  const all = [{ what: "berth serve --ephemeral", ms: serving }, ...steps];
  for (const { what, ms } of all) print(what, ms);
  process.stdout.write(`\n${line} (node ${node})\n`);
  print("from an empty folder", sum(steps));
  print("with the server", sum(all));
} finally {
  await rm(packed, { recursive: true, force: true });
}

function print(what: string, ms: number): void {
  process.stdout.write(`${what.padEnd(26)} ${(ms / 1_000).toFixed(1).padStart(6)} s\n`);
}

function sum(steps: readonly { readonly ms: number }[]): number {
  return steps.reduce((total, { ms }) => total + ms, 0);
}
