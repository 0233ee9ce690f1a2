/**
 * Makes a database folder: whole or not at all, so that a start that was killed leaves nothing half-made. A
 * folder with something else in it is never touched.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "./account.ts";
import { databaseEnvironment } from "./environment.ts";
import { PASSWORD_FILE, USER } from "./login.ts";

export interface Fresh {
  /** The server's programs. */
  readonly bin: string;
  readonly dir: string;
  readonly account: Account;
  /** Off only for what will not outlive the machine anyway. */
  readonly sync: boolean;
  /** The log of changes in pieces of 1 MiB in place of 16. */
  readonly small?: boolean;
}

/** Does nothing when there is a database already. */
export function initialize({ bin, dir, account, sync, small = false }: Fresh): void {
  if (existsSync(join(dir, "PG_VERSION"))) return;
  if (existsSync(dir)) {
    if (readdirSync(dir).length > 0)
      throw new Error(`${dir} is not empty and holds no database: choose another data folder`);
    rmdirSync(dir);
  }
  const half = `${dir}.new-${process.pid}`;
  rmSync(half, { recursive: true, force: true });
  makeFor(account, half);
  try {
    runInitdb({ bin, dir: half, account, sync, small });
    renameSync(half, dir);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another first start was quicker; whoever runs on the folder is found next.
    if (!existsSync(join(dir, "PG_VERSION"))) throw error;
  }
}

function runInitdb({ bin, dir, account, sync, small = false }: Fresh): void {
  const scratch = mkdtempSync(join(tmpdir(), "berth-init-"));
  const passwordFile = join(scratch, "password");
  const password = randomBytes(24).toString("hex");
  try {
    writePrivate(passwordFile, password, account);
    if (account) chownSync(scratch, account.uid, account.gid);
    const args = ["-D", dir, "-U", USER, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
    args.push("--encoding=UTF8", "--locale=C", "--no-instructions");
    if (!sync) args.push("--no-sync");
    if (small) args.push("--wal-segsize=1");
    const run = spawnSync(join(bin, "initdb"), args, {
      ...account,
      cwd: "/",
      env: databaseEnvironment(),
      encoding: "utf8",
    });
    if (run.status !== 0)
      throw new Error(
        `initdb could not make a database in ${dir}: ${run.error?.message ?? run.stderr}`,
      );
    writePrivate(join(dir, PASSWORD_FILE), password, account);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function makeFor(account: Account, dir: string): void {
  mkdirSync(dir, { mode: 0o700 });
  if (account) chownSync(dir, account.uid, account.gid);
}

function writePrivate(file: string, text: string, account: Account): void {
  writeFileSync(file, text, { mode: 0o600 });
  if (account) chownSync(file, account.uid, account.gid);
}
