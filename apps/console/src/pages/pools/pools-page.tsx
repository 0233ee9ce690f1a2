import type { ReactNode } from "react";

export function PoolsPage(): ReactNode {
  return <h1>Pools</h1>;
}
