/**
 * Named places at which a test may break the process: kill it, stop it, hold it up. The function is an
 * argument like the clock and the store; where none is given, nothing is called and nothing is awaited.
 */

/** Every point there is, in the order in which a write passes them. */
export const FAILPOINTS = [
  /** A batch was taken from the pool's queue. */
  "queue.drained",
  /** What changed since the held snapshot was read. */
  "delta.read",
  /** The batch is planned; nothing is sent. */
  "place.done",
  /** The gated write is about to be sent. */
  "apply.before",
  /** It is on its way, unanswered. */
  "apply.sent",
  /** It was answered, and nobody here knows yet. */
  "apply.acked",
  /** This process's snapshot holds the batch, its callers are not answered. */
  "cache.updated",
  /** The callers of a decided batch are about to be answered. */
  "reply.before",
  /** A waiter was decided; its caller has not been told. */
  "waiter.woken",
  /** The lifecycle worker found pools with something due. */
  "advance.selected",
  /** What was due in them is applied. */
  "advance.applied",
  /** A batch that takes units back from the spot market is planned; nothing is sent. */
  "reclaim.planned",
  /** It is written. */
  "reclaim.applied",
  /** A batch that minds bookings on failed hardware is planned; nothing is sent. */
  "heal.planned",
  /** It is written. */
  "heal.applied",
  /** One statement of a migration ran; nothing is committed. */
  "migrate.step",
  /** The embedded server takes connections; its folder does not say so yet. */
  "embed.started",
  /** The embedded server is about to be told to stop. */
  "embed.stopping",
] as const;

export type FailpointName = (typeof FAILPOINTS)[number];

/** Told that the process passes the point; it goes on when the promise resolves. */
export type Failpoint = (name: FailpointName) => Promise<void>;
