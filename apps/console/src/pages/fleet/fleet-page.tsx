import type { ReactNode } from "react";

export function FleetPage(): ReactNode {
  return <h1>Fleet</h1>;
}
