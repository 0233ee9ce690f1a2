/** `can` for whoever is signed in, and the tenant that the page is about. */
import { useSession } from "../app/session.tsx";
import { can } from "./can.ts";
import type { Method, Row } from "./can.ts";

/** Answers why a method may not be called on a row, as a button takes it; null: it may. */
export function useCan(): (method: Method, row?: Row) => string | null {
  const { tenantId, who } = useSession();
  return (method, row) => {
    const may = can(method, { ...who, tenantId }, row);
    return may.may ? null : may.why;
  };
}
