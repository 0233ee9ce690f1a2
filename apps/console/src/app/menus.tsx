/** The menus of the bar: tenant, zone, and oneself. */
import type { ReactNode } from "react";
import { useState } from "react";
import { zoneName } from "../format/time.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { mayNotify } from "./notices.ts";
import { useNow } from "./now.ts";
import { useSession } from "./session.tsx";
import styles from "./shell.module.css";
import { THEMES, applyTheme, readTheme } from "./theme.ts";
import type { Theme } from "./theme.ts";
import { useZone } from "./zone.tsx";

export function TenantMenu(): ReactNode {
  const { tenantId, tenants, setTenant } = useSession();
  const known = tenants.some((tenant) => tenant.tenantId === tenantId);
  const entries = [...(known ? [] : [{ tenantId, name: null, parentId: null }]), ...tenants];
  return (
    <Menu
      label="Tenant"
      button={
        <Button kind="quiet" label={`Tenant: ${tenantId}`}>
          <Icon name="tenant" />
          <span className={styles.tenant} dir="auto">
            {tenantId}
          </span>
          <Icon name="down" />
        </Button>
      }
      entries={entries.map((tenant) => ({
        id: tenant.tenantId,
        name: tenant.tenantId,
        note: tenant.name ?? undefined,
        chosen: tenant.tenantId === tenantId,
      }))}
      onAction={setTenant}
    />
  );
}

/** One's own zone, UTC, and a few that people book across. */
const ZONES = [
  "UTC",
  "America/Los_Angeles",
  "America/New_York",
  "Europe/London",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Asia/Singapore",
  "Asia/Tokyo",
];

export function ZoneMenu(): ReactNode {
  const { zone, local, setZone } = useZone();
  const now = useNow(60_000);
  const zones = [...new Set([local, ...ZONES, zone])];
  return (
    <Menu
      label="Time zone"
      button={
        <Button kind="quiet" label={`Times are in ${zoneName(now, zone)}, ${zone}`}>
          <Icon name="clock" />
          <span className={styles.wide}>{zoneName(now, zone)}</span>
        </Button>
      }
      entries={zones.map((name) => ({
        id: name,
        name: name.replaceAll("_", " "),
        note: name === local ? `${zoneName(now, name)}, this device` : zoneName(now, name),
        chosen: name === zone,
      }))}
      onAction={setZone}
    />
  );
}

const THEME_NAMES: Readonly<Record<Theme, string>> = {
  system: "Theme of the system",
  light: "Light theme",
  dark: "Dark theme",
};

export function UserMenu(): ReactNode {
  const { who, signOut } = useSession();
  const [theme, setTheme] = useState(readTheme);
  const [notifies, setNotifies] = useState(mayNotify);
  const act = (id: string): void => {
    const chosen = THEMES.find((each) => each === id);
    if (chosen) {
      applyTheme(chosen);
      setTheme(chosen);
    } else if (id === "notify") {
      void Notification.requestPermission().then(() => setNotifies(mayNotify()));
    } else if (id === "out") signOut();
  };
  return (
    <Menu
      label="You"
      button={
        <Button kind="quiet" label={`Signed in as ${who.name}`}>
          <Icon name="user" />
        </Button>
      }
      entries={[
        ...THEMES.map((id) => ({ id, name: THEME_NAMES[id], chosen: id === theme })),
        {
          id: "notify",
          name: "Notify me in this browser",
          note: "before a booking ends, lapses or has to make way",
          chosen: notifies,
        },
        { id: "out", name: "Sign out", note: `${who.name}, ${who.role} of ${who.tenantId}` },
      ]}
      onAction={act}
    />
  );
}
