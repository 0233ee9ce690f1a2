/** Everything by its name: pages, pools, tenants, a booking by its id, and what is done often. */
import { useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { Autocomplete, useFilter } from "react-aria-components/Autocomplete";
import { Dialog } from "react-aria-components/Dialog";
import { Input } from "react-aria-components/Input";
import { Menu, MenuItem } from "react-aria-components/Menu";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { SearchField } from "react-aria-components/SearchField";
import { modelText } from "../format/gpus.ts";
import { ROOMS } from "./nav.ts";
import styles from "./palette.module.css";
import { useSession } from "./session.tsx";
import { THEMES, applyTheme } from "./theme.ts";

interface Command {
  readonly id: string;
  readonly name: string;
  readonly note: string;
  run(): void;
}

const RESERVATION = /^rsv_[0-9a-hjkmnp-tv-z]{26,52}$/;

export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const { contains } = useFilter({ sensitivity: "base" });
  const commands = useCommands(text.trim());
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className={styles.modal ?? ""}>
        <Dialog aria-label="Search">
          <Autocomplete inputValue={text} onInputChange={setText} filter={contains}>
            <SearchField aria-label="Search" className={styles.field ?? ""} autoFocus>
              <Input placeholder="A page, a pool, a tenant, a booking's id" />
            </SearchField>
            <Menu
              aria-label="Results"
              className={styles.menu ?? ""}
              renderEmptyState={() => <p className={styles.none}>Nothing has this name.</p>}
              onAction={(key) => {
                onClose();
                commands.find(({ id }) => id === key)?.run();
              }}
            >
              {commands.map(({ id, name, note }) => (
                <MenuItem
                  key={id}
                  id={id}
                  textValue={`${name} ${note}`}
                  className={styles.item ?? ""}
                >
                  <span dir="auto">{name}</span>
                  <small>{note}</small>
                </MenuItem>
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function useCommands(text: string): readonly Command[] {
  const { queries, tenantId, tenants, setTenant, signOut } = useSession();
  const navigate = useNavigate();
  const pools = useQuery(queries.pools.list.queryOptions({ tenantId }));
  return [
    ...(RESERVATION.test(text)
      ? [
          {
            id: "rsv",
            name: text,
            note: "show this booking",
            run: () => void navigate({ to: ".", search: (now) => ({ ...now, rsv: text }) }),
          },
        ]
      : []),
    ...ROOMS.map(({ to, name }) => ({
      id: to,
      name,
      note: "page",
      run: () => void navigate({ to }),
    })),
    ...(pools.data?.pools ?? []).map(({ id, label, gpuModel }) => ({
      id,
      name: label ?? modelText(gpuModel),
      note: `pool, ${modelText(gpuModel)}`,
      run: () => void navigate({ to: "/pools/$poolId", params: { poolId: id } }),
    })),
    ...tenants.map((tenant) => ({
      id: `tenant ${tenant.tenantId}`,
      name: tenant.tenantId,
      note: tenant.tenantId === tenantId ? "tenant, this one" : "go to tenant",
      run: () => setTenant(tenant.tenantId),
    })),
    ...THEMES.map((theme) => ({
      id: `theme ${theme}`,
      name: `Theme: ${theme}`,
      note: "appearance",
      run: () => applyTheme(theme),
    })),
    { id: "out", name: "Sign out", note: "leave", run: signOut },
  ];
}
