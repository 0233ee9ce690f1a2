/** What the engine throws when it cannot decide; refusals are values and never come this way. */
import type { KeyClaim } from "@berth/db";
import type { GateId, UnitId } from "@berth/domain";

/** The idempotency key is taken: the claim names the reservation that it made. */
export class KeyTaken extends Error {
  readonly claim: KeyClaim;
  constructor(claim: KeyClaim) {
    super("the idempotency key was used before");
    this.name = "KeyTaken";
    this.claim = claim;
  }
}

/** The pool that the command was to create is there already. */
export class GateExists extends Error {
  constructor(gateId: GateId) {
    super(`${gateId} exists already`);
    this.name = "GateExists";
  }
}

/** What the command brings is in another gate by now: look again where it is. */
export class Elsewhere extends Error {
  constructor(gateId: GateId) {
    super(`what was to come into ${gateId} is elsewhere`);
    this.name = "Elsewhere";
  }
}

/** Another unit reservation has these units in the same term: the database says so. */
export class Fenced extends Error {
  readonly unitIds: readonly UnitId[];
  constructor(unitIds: readonly UnitId[]) {
    super(`these units are reserved in that term already: ${unitIds.join(", ")}`);
    this.name = "Fenced";
    this.unitIds = unitIds;
  }
}

/** There is no such pool, and the command does not make one. */
export class NoSuchGate extends Error {
  constructor(gateId: GateId) {
    super(`there is no ${gateId}`);
    this.name = "NoSuchGate";
  }
}

/** Too many commands wait for this pool. */
export class Overloaded extends Error {
  constructor() {
    super("too many requests are waiting for this pool; try again shortly");
    this.name = "Overloaded";
  }
}

/** The database could not be asked in time, or the engine is stopping; keyed calls may be retried. */
export class Unavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "Unavailable";
  }
}

/** The caller went away before the decision. */
export class Cancelled extends Error {
  constructor() {
    super("the caller went away before the decision");
    this.name = "Cancelled";
  }
}
