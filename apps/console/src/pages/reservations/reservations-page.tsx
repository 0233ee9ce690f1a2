import type { ReactNode } from "react";

export function ReservationsPage(): ReactNode {
  return <h1>Reservations</h1>;
}
