import type { ReactNode } from "react";

export function ActivityPage(): ReactNode {
  return <h1>Activity</h1>;
}
