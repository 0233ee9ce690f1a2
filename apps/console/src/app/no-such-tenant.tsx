/** In place of every page, when the address names a tenant that is not there or that the caller may not read. */
import type { Tenant, Whoami } from "@berth/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button, buttonClass } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";
import styles from "./shell.module.css";
import { offered } from "./tenants.ts";

export interface NoSuchTenantProps {
  readonly tenantId: string;
  readonly who: Whoami;
  readonly tenants: readonly Tenant[];
  onSignOut(): void;
}

export function NoSuchTenant({ tenantId, who, tenants, onSignOut }: NoSuchTenantProps): ReactNode {
  const { ids, left } = offered(who.tenantId, tenants);
  return (
    <main className={styles.gate}>
      <Empty
        title={`There is no tenant ${tenantId}, or it is not yours`}
        action={
          <>
            {ids.map((id) => (
              <Link
                key={id}
                to="."
                // Named in any case: the router keeps the tenant of the address where none is.
                search={{ tenant: id }}
                className={buttonClass({})}
              >
                <bdi>{id}</bdi>
              </Link>
            ))}
            <Button kind="quiet" onPress={onSignOut}>
              Sign out
            </Button>
          </>
        }
      >
        You are <bdi>{who.name}</bdi> of <bdi>{who.tenantId}</bdi>. Yours{" "}
        {ids.length === 1 ? "is" : "are"}
        {left > 0 ? ` these and ${left} more` : ""}:
      </Empty>
    </main>
  );
}
