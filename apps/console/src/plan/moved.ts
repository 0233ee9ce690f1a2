/** For calls that have no precondition of their own: the plan is looked at once more before it is carried out. */

/** What was shown is not what would happen any more. */
export class PlanMoved extends Error {
  constructor() {
    super("Something changed meanwhile.");
    this.name = "PlanMoved";
  }
}

/** @throws PlanMoved when the plan made now differs from the one that was shown */
export async function unlessMoved<P>(shown: P, make: () => Promise<P>): Promise<void> {
  const now = await make();
  if (JSON.stringify(now) !== JSON.stringify(shown)) throw new PlanMoved();
}
