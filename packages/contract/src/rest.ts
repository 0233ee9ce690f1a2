/** The unit reservations' second face: paths and verbs of their own, for callers who speak them already. */
import type { MethodName } from "./contract.ts";

export interface RestRoute {
  readonly method: MethodName;
  readonly verb: "GET" | "POST";
  /** Names in braces are fields of the input, and of no body. */
  readonly path: string;
  /** Of a success. */
  readonly status: 200 | 201;
}

const NODE = "/v1/nodes/{nodeId}/reservations";
const ONE = `${NODE}/{reservationId}`;

/** A GET takes the rest of its input from the query, a POST from the body. */
export const REST_ROUTES: readonly RestRoute[] = [
  { method: "unitReservations.create", verb: "POST", path: NODE, status: 201 },
  { method: "unitReservations.list", verb: "GET", path: NODE, status: 200 },
  { method: "unitReservations.get", verb: "GET", path: ONE, status: 200 },
  { method: "unitReservations.cancel", verb: "POST", path: `${ONE}/cancel`, status: 200 },
  { method: "unitReservations.release", verb: "POST", path: `${ONE}/release`, status: 200 },
  { method: "unitReservations.reclaim", verb: "POST", path: `${ONE}/reclaim`, status: 200 },
  { method: "unitReservations.reaffirm", verb: "POST", path: `${ONE}/reaffirm`, status: 200 },
];

/** The fields that the path names. */
export function pathFields({ path }: RestRoute): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => field);
}
