import type { ReactNode } from "react";

export function OverviewPage(): ReactNode {
  return <h1>Overview</h1>;
}
