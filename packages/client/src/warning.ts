/** What a client says at most once, to whoever runs the program. */
import { API_VERSION } from "./methods.gen.ts";
import type { BerthOptions } from "./options.ts";

/** Says each message once. */
export function createWarn({ onWarning }: BerthOptions): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (said.has(message)) return;
    said.add(message);
    if (!onWarning) return globalThis.console.warn(`@berth/client: ${message}`);
    try {
      onWarning(message);
    } catch {
      // A warning breaks no call.
    }
  };
}

/** Warns when the server is of another major version than this client was made for, or older. */
export function createVersionCheck(
  warn: (message: string) => void,
  own: string = API_VERSION,
): (headers: Headers) => void {
  const [major, minor] = parts(own);
  let isDone = false;
  return (headers) => {
    const told = headers.get("berth-api-version");
    if (isDone || told === null || !/^\d{1,6}\.\d{1,6}$/.test(told)) return;
    isDone = true;
    const [theirs, their] = parts(told);
    if (theirs !== major)
      warn(
        `the server speaks version ${told} of the API and this client ${own}: use the client of the server's version`,
      );
    else if (their < minor)
      warn(
        `the server speaks version ${told} of the API and this client ${own}: what is newer than the server it refuses`,
      );
  };
}

function parts(version: string): readonly [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}
