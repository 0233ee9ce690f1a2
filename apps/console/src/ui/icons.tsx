/** Signs of 16 px, drawn with the text's colour. They stand beside words and are silent. */
import type { ReactNode } from "react";

const PATHS = {
  overview: "M2.5 2.5h4.5v6h-4.5zM9 2.5h4.5v3.5H9zM9 8h4.5v5.5H9zM2.5 10.5h4.5v3h-4.5z",
  pools: "M2.5 3h11v3.5h-11zM2.5 9.5h11V13h-11zM4.8 4.75h.01M4.8 11.25h.01",
  book: "M8 3.2v9.6M3.2 8h9.6",
  reservations: "M2.5 4h7M6 8h7.5M3.5 12h5",
  fleet:
    "M3 3h2.8v2.8H3zM10.2 3H13v2.8h-2.8zM3 10.2h2.8V13H3zM10.2 10.2H13V13h-2.8zM5.8 4.4h4.4M5.8 11.6h4.4M4.4 5.8v4.4M11.6 5.8v4.4",
  activity: "M1.8 8h3l2-4.8 2.6 9.6 2-4.8h2.8",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3 3",
  down: "M4 6.2l4 4 4-4",
  user: "M8 2.6a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM3 13.4c.5-2.6 2.5-3.9 5-3.9s4.5 1.3 5 3.9",
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 4.8V8l2.2 1.6",
  tenant: "M3 13.4V3.6L8 2v11.4M8 6.4l5 1.4v5.6M1.8 13.4h12.4M5.2 5.6h.8M5.2 8h.8M5.2 10.4h.8",
  copy: "M5.6 5.6h7.2v7.2H5.6zM10.2 5.4V3.2H3.2v7h2.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
