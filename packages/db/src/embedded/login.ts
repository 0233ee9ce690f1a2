/** How to connect to an embedded server: a password of its own, kept in its folder for its owner alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const HOST = "127.0.0.1";
export const USER = "postgres";
export const PASSWORD_FILE = "berth.password";

export function urlOf(dir: string, port: number, database: string): string {
  const password = readFileSync(join(dir, PASSWORD_FILE), "utf8").trim();
  return `postgres://${USER}:${password}@${HOST}:${port}/${database}`;
}
