/** What goes wrong between us and the database, told apart by what the caller may do about it. */

/** The connection was lost before the statement could have been committed: nothing was written. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
  readonly code = "08006";
  constructor(cause?: unknown) {
    super("the connection to the database was lost; nothing was written", { cause });
  }
}

/** The connection was lost after the write was sent: it may or may not have been committed. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
  constructor(cause?: unknown) {
    super(
      "the connection to the database was lost before it answered; the write may have happened",
      {
        cause,
      },
    );
  }
}

/** Drizzle wraps the driver's error, and ours carry theirs as cause. */
const CAUSES_MAX = 8;

/** The SQLSTATE, or the driver's or system's code (`ECONNREFUSED`), of an error or one of its causes. */
export function sqlState(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    cause = cause.cause;
  }
  return undefined;
}

/** The session was ended by the server or never came up; whatever it ran is over. */
const SESSION_ENDED = /^(08...|57P0[1-5]|25P03)$/;
/**
 * It is not the database that it was: demoted to a replica, its password or its name changed. Whoever operates
 * it puts that right; no batch of ours was wrong.
 */
const ANOTHER = /^(25006|28...|3D000)$/;
/** No room, lock or connection now, or lost against another transaction. */
const BUSY = /^(53100|53300|55P03|40001|40P01|57014)$/;
/** Nobody we trust answers there, by Node's names: an expired certificate is not what the planner thought right. */
const UNTRUSTED =
  /^((CERT|CRL|UNABLE_TO|ERR_TLS|ERR_SSL)_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?)$/;
const SOCKET =
  /^(CONNECTION_(CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Whether this error means that the connection it happened on is of no more use. */
export function isConnectionLoss(error: unknown): boolean {
  const code = sqlState(error);
  return (
    code !== undefined &&
    [SESSION_ENDED, ANOTHER, SOCKET, UNTRUSTED].some((those) => those.test(code))
  );
}

/** Whether the same statement may succeed when it is tried again shortly. Never true for an unknown outcome. */
export function isTransient(error: unknown): boolean {
  if (error instanceof UnknownOutcome) return false;
  const code = sqlState(error);
  return code !== undefined && (BUSY.test(code) || isConnectionLoss(error));
}
