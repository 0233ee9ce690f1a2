/** `berth keys recover`: a key when none is left, made in the database itself. */
import { randomBytes } from "node:crypto";
import { DEFAULT_PLATFORM, recoverKey } from "@berth/api";
import type { Config } from "../config.ts";
import { dataFolder } from "../data-folder.ts";
import { withDatabase } from "./database.ts";
import type { Output } from "./output.ts";

/**
 * Prints the new fleet-admin key's token and nothing else. On an embedded database it also takes the place of the
 * one that is kept in the data folder, which other commands present.
 */
export async function recover(config: Config, output: Output): Promise<void> {
  const tenantId = config.platformOrg ?? DEFAULT_PLATFORM;
  const { keyId, token } = await withDatabase(config, (database) =>
    recoverKey(database, randomBytes, tenantId),
  );
  output.say(
    `${keyId}: fleet-admin of ${tenantId}, named recovered; its token is shown this once. Running servers take it at once.`,
  );
  output.data(token);
  if (config.databaseUrl !== null) return;
  output.say(`It is kept in ${dataFolder(config.dataDir).keepAdminKey(token)}`);
}
