import type { ReactNode } from "react";

export function PoolPage(): ReactNode {
  return <h1>Pool</h1>;
}
