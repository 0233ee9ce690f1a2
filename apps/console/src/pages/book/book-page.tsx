import type { ReactNode } from "react";

export function BookPage(): ReactNode {
  return <h1>Book</h1>;
}
