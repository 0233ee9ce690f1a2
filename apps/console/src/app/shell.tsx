import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function Shell(): ReactNode {
  return <Outlet />;
}
