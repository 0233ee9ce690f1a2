/** Titles for many small things: one is given when the pointer comes to it, not to each of thousands beforehand. */
import type { PointerEvent } from "react";

/** Shows the accessible name of the bar or cell that the pointer is over as its title. */
export function nameOnHover({ target }: PointerEvent<HTMLElement>): void {
  const named = (target as HTMLElement).closest<HTMLElement>("[data-span], [data-unit]");
  const name = named?.getAttribute("aria-label");
  if (named && name != null && named.title !== name) named.title = name;
}
