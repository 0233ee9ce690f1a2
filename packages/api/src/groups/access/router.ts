/** The access group: a line a method. */
import type { GroupHandlers } from "../../call.ts";
import { audit } from "./audit.ts";
import { createKey } from "./create-key.ts";
import { listKeys } from "./list-keys.ts";
import { revokeKey } from "./revoke-key.ts";
import { whoami } from "./whoami.ts";

export const accessHandlers: GroupHandlers<"access"> = {
  createKey,
  listKeys,
  revokeKey,
  whoami,
  audit,
};
