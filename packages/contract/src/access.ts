/** Group `access`: API keys, who am I, and the audit trail. */
import { z } from "zod";
import {
  amount,
  LIMITS,
  anyTenantId,
  cursorText,
  id,
  limit,
  list,
  name,
  nextCursor,
  poolId,
  tenantId,
  text,
  time,
} from "./common.ts";

/** What can be decided about; the catalog's rows use these. */
export const ACTIONS = [
  "compute:capacity:read",
  "compute:pools:read",
  "compute:pools:create",
  "compute:pools:share",
  "compute:pools:manage",
  "compute:reservations:read",
  "compute:reservations:create",
  "compute:reservations:manage",
  "compute:reservations:terminate",
  "compute:nodes:read",
  "compute:nodes:manage",
  "compute:units:read",
  "compute:units:manage",
  "compute:units:reserve",
  "compute:fleet:manage",
  "compute:access:manage",
  "compute:events:read",
] as const;
export type Action = (typeof ACTIONS)[number];

export const ROLES = ["tenant-viewer", "tenant-operator", "tenant-admin", "fleet-admin"] as const;
export type Role = (typeof ROLES)[number];

const role = z.enum(ROLES).meta({
  id: "Role",
  description:
    "What a key may do on its tenant and the tenants below; fleet-admin: everything, everywhere.",
});
const action = z.enum(ACTIONS).meta({ id: "Action", description: "What a call is decided as." });
const keyId = id("key").describe("The key.");

const scopeView = z
  .object({
    poolIds: list(poolId, 64).nullable().describe("Only these pools; null: all."),
    actions: list(action, 32).nullable().describe("Only these actions; null: all of the role's."),
  })
  .meta({ id: "KeyScopeView", description: "What narrows a key." });

const key = z
  .object({
    id: keyId.describe("The key's id."),
    tenantId: anyTenantId.describe("The tenant that it belongs to."),
    name: name().describe("Its name: keys of one tenant and name are one caller."),
    role: role.describe("What it may do."),
    scope: scopeView.nullable().describe("What narrows it; null: nothing."),
    createdBy: text(512).describe("Who made it."),
    createdAt: time.describe("Milliseconds since the epoch."),
    expiresAt: time.nullable().describe("From then on it is refused; null: never."),
    revokedAt: time.nullable().describe("When it was revoked; null: it was not."),
    lastUsedAt: time
      .nullable()
      .describe("When it was last used, to within a minute or so; null: never."),
  })
  .meta({ id: "Key", description: "An API key, without its secret." });

const auditEntry = z
  .object({
    id: text(64).describe("The entry's id."),
    at: time.describe("Milliseconds since the epoch."),
    principal: text(512).describe("Who called."),
    tenantId: anyTenantId.nullable().describe("For which tenant."),
    method: text(128).describe("Which method."),
    outcome: text(128).describe("`ok`, or the error's code."),
    target: text(512).nullable().describe("What it was done to, or null."),
    requestId: text(128).describe("The request's id; of counted refusals, the first one's."),
    count: amount().describe(
      "Calls that it stands for: refusals of one minute are counted, not listed.",
    ),
  })
  .meta({ id: "AuditEntry", description: "One call, as the audit trail holds it." });

export const access = {
  createKey: {
    input: z
      .strictObject({
        tenantId,
        role: role.describe("What it may do; not more than you may."),
        name: name().describe("Its name: keys of one tenant and name are one caller."),
        scope: z
          .strictObject({
            poolIds: list(poolId, 64, 1).optional().describe("Only these pools; absent: all."),
            actions: list(action, 32, 1)
              .optional()
              .describe("Only these actions; absent: all of the role's."),
          })
          .meta({ id: "KeyScope", description: "What narrows a key." })
          .optional()
          .describe("Narrows it; absent: not."),
        expiresAt: time
          .optional()
          .describe("From then on it is refused; absent: never, or with your own key."),
      })
      .meta({ id: "CreateKeyInput", description: "A new API key." }),
    output: z
      .object({
        key: key.describe("The key."),
        secret: text(256).describe("The token to send; shown this once."),
      })
      .meta({ id: "CreatedKey", description: "A new key and its secret." }),
  },
  listKeys: {
    input: z.strictObject({ tenantId }).meta({ id: "ListKeysInput", description: "Whose keys." }),
    output: z
      .object({ keys: list(key, LIMITS.answer).describe("The tenant's keys, newest first.") })
      .meta({ id: "KeyList", description: "A tenant's keys." }),
  },
  revokeKey: {
    input: z.strictObject({ keyId }).meta({ id: "KeyRef", description: "A key." }),
    output: key,
  },
  whoami: {
    input: z
      .strictObject({})
      .meta({ id: "WhoamiInput", description: "Nothing to say." })
      .default({}),
    output: z
      .object({
        tenantId: anyTenantId.describe("The tenant that you belong to."),
        name: name().describe("Your name there."),
        role: role.describe("What you may do."),
        scope: scopeView.nullable().describe("What narrows it; null: nothing."),
        keyId: keyId.nullable().describe("The key you came with; null for another token."),
        expiresAt: time.nullable().describe("When your token ends; null: never."),
      })
      .meta({ id: "Whoami", description: "Who the server takes you for." }),
  },
  audit: {
    input: z
      .strictObject({
        tenantId,
        after: cursorText
          .optional()
          .describe("`nextCursor` of the page before; absent: the newest."),
        limit,
      })
      .meta({ id: "AuditInput", description: "Which part of the audit trail." }),
    output: z
      .object({ entries: list(auditEntry, LIMITS.page).describe("Newest first."), nextCursor })
      .meta({ id: "AuditPage", description: "A page of the audit trail." }),
  },
};
