/** A condition that statements of others have in them. */
import type { Database } from "../database.ts";
import { IS_DUE } from "./queries.ts";

/** Whether something is due in the gate `g` of the statement: a lease, a start, an end, or a wait that is over. */
export const isDue = ({ sql }: Database) => sql.unsafe(IS_DUE);
