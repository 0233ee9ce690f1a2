/** The zone that times are said in: the viewer's own, or another one that they chose and that is kept. */
import { createContext, use, useCallback, useMemo, useState } from "react";
import type { ReactNode } from "react";

const KEY = "berth.zone";

export interface Zone {
  /** An IANA name, such as `Europe/Berlin`. */
  readonly zone: string;
  /** The browser's own. */
  readonly local: string;
  setZone(zone: string): void;
}

const Context = createContext<Zone | null>(null);

/** Whether the browser can tell times in it. */
export function isZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat("en-GB", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export function ZoneProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [chosen, choose] = useState(() => localStorage.getItem(KEY));
  const zone = chosen !== null && isZone(chosen) ? chosen : local;
  const setZone = useCallback(
    (next: string) => {
      // One's own zone is not pinned: it follows the one who travels.
      if (next === local) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
      choose(next === local ? null : next);
    },
    [local],
  );
  const value = useMemo(() => ({ zone, local, setZone }), [zone, local, setZone]);
  return <Context value={value}>{children}</Context>;
}

export function useZone(): Zone {
  const zone = use(Context);
  if (!zone) throw new Error("useZone needs a ZoneProvider around it");
  return zone;
}
