/** The client that operators' commands use: the running server, with the best key that is at hand. */
import { type Berth, createBerth } from "@berth/client";
import { isHere } from "../clear-text.ts";
import type { Config } from "../config.ts";
import { dataFolder } from "../data-folder.ts";
import { UsageError } from "./exit.ts";

/** @throws UsageError when there is no key to present */
export function operatorClient(config: Config): Berth {
  const token = config.token ?? keyOfThisMachine(config);
  return createBerth({ url: config.url ?? urlOf(config), token });
}

/** Of the server here, and so for no server elsewhere: whoever is sent it may do everything on ours. */
function keyOfThisMachine({ url, bootstrapToken, dataDir }: Config): string {
  if (url !== null && !isHere(new URL(url).hostname.replace(/^\[|\]$/g, "")))
    throw new UsageError(
      `BERTH_TOKEN is not set, and the key that is kept here is not for ${new URL(url).origin}`,
    );
  const token = bootstrapToken ?? dataFolder(dataDir).readAdminKey();
  if (token !== null) return token;
  throw new UsageError("BERTH_TOKEN is not set, and no key is kept in BERTH_DATA_DIR");
}

function urlOf({ host, port }: Config): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
