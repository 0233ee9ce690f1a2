/** Makes an account at a provider, or changes its kind: the same tenant and name are the same account. */
import type { Output } from "@berth/contract";
import { derive } from "@berth/engine";
import type { Handler } from "../../call.ts";
import { notFound } from "../../errors.ts";
import { tenantChain } from "../../visibility.ts";
import { changeTenant, lockName } from "../tenant-change.ts";

type Account = Output<"fleet.putProviderAccount">;

export const putProviderAccount: Handler<"fleet.putProviderAccount"> = {
  async run(call, { tenantId, name, kind }) {
    const [owner] = await tenantChain(call.deps.db, tenantId);
    if (owner === undefined) throw notFound("no such tenant");
    const id = derive("pacct", "name", [tenantId, name]);
    const rows = await changeTenant(call, async (tx) => {
      await lockName(tx, id);
      return tx.q<Account>(
        `insert into provider_accounts (id, tenant_id, name, kind, created_at)
         values ($1, $2, $3, $4, $5)
         on conflict (id) do update set kind = excluded.kind
         where provider_accounts.tenant_id = excluded.tenant_id
         returning id, tenant_id as "tenantId", name, kind`,
        [id, tenantId, name, kind, tx.now],
      );
    });
    const [account] = rows;
    if (!account) throw notFound("a derived account id of another owner");
    return account;
  },
};
