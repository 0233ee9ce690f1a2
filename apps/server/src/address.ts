/** The address to listen on: looked at before anything is made, and named when it cannot be had. */
import { createServer } from "node:net";
import { type Config, ConfigError } from "./config.ts";

/** HOST or PORT is of no use here; the message names the one at fault. */
export class AddressError extends ConfigError {
  /** The system's, such as EADDRINUSE. */
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

type Address = Pick<Config, "host" | "port">;

/**
 * Takes the address and leaves it again, so that a start which cannot listen ends before it has made a
 * database or shown a key.
 * @throws AddressError
 */
export async function tryAddress({ host, port }: Address): Promise<void> {
  const probe = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  probe.once("error", reject);
  probe.listen({ host, port }, () => probe.close(() => resolve()));
  await promise.catch((error: unknown) => {
    throw addressProblem(error, { host, port });
  });
}

/** The error of an attempt to listen in words of the settings; any other error as it is. */
export function addressProblem(error: unknown, { host, port }: Address): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const say = WORDS[code];
  return say ? new AddressError(say(host, port), code) : error;
}

const unresolved = (host: string) =>
  `HOST ${host} cannot be resolved: name an address of this machine, such as 127.0.0.1 or 0.0.0.0`;

const WORDS: Readonly<Record<string, (host: string, port: number) => string>> = {
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  EADDRNOTAVAIL: (host) =>
    `HOST ${host} is not an address of this machine: name one that is, such as 127.0.0.1 or 0.0.0.0`,
  EADDRINUSE: (host, port) =>
    `PORT ${port} on ${host} is taken by another process: choose another one, or 0 for any free one`,
  EACCES: (_host, port) =>
    `PORT ${port} may not be listened on by this user: choose one from 1024 on`,
};
