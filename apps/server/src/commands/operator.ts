/** The client that operators' commands use: the running server, with the best key that is at hand. */
import { type Berth, createBerth } from "@berth/client";
import type { Config } from "../config.ts";
import { dataFolder } from "../data-folder.ts";
import { UsageError } from "./exit.ts";

/** @throws UsageError when there is no key to present */
export function operatorClient(config: Config): Berth {
  const token = config.token ?? config.bootstrapToken ?? dataFolder(config.dataDir).readAdminKey();
  if (token === null)
    throw new UsageError("BERTH_TOKEN is not set, and no key is kept in BERTH_DATA_DIR");
  return createBerth({ url: config.url ?? urlOf(config), token });
}

function urlOf({ host, port }: Config): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
