/** Hears what other processes notify, over a connection of its own. */
import { createClient } from "./client.ts";

export interface Listening {
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly applicationName: string;
  readonly channel: string;
  /** Told the payload of each notification. */
  heard(payload: string): void;
}

/**
 * Best effort: the driver does not say when it could not listen again after a lost connection, so whoever
 * depends on it notifies itself and listens anew when that is not heard.
 */
export function listen(url: string, options: ListenOptions): Listening {
  const { applicationName, channel, heard } = options;
  const client = createClient(url, { applicationName, max: 1 });
  client.listen(channel, heard).catch(() => undefined);
  return { close: () => client.end({ timeout: 1 }) };
}
