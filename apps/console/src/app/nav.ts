/** The rooms that a person walks between, in the order of use. */
import type { IconName } from "../ui/icons.tsx";

export interface Room {
  readonly to: "/" | "/pools" | "/book" | "/reservations" | "/fleet" | "/activity";
  readonly name: string;
  readonly icon: IconName;
}

export const ROOMS: readonly Room[] = [
  { to: "/", name: "Overview", icon: "overview" },
  { to: "/pools", name: "Pools", icon: "pools" },
  { to: "/book", name: "Book", icon: "book" },
  { to: "/reservations", name: "Reservations", icon: "reservations" },
  { to: "/fleet", name: "Fleet", icon: "fleet" },
  { to: "/activity", name: "Activity", icon: "activity" },
];
