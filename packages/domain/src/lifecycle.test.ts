import { describe, expect, it } from "vitest";
import { TRANSITIONS, type Trigger, follow, isLive } from "./lifecycle.ts";
import { RESERVATION_STATES } from "./model.ts";

const TRIGGERS: readonly Trigger[] = [
  "start",
  "complete",
  "lapse",
  "release",
  "terminate",
  "notice",
  "preempt",
  "reprieve",
  "reprieveUnbegun",
];

describe("the lifecycle table", () => {
  it("lets no ended state change again", () => {
    const ended = RESERVATION_STATES.filter((state) => !isLive(state));
    expect(ended.flatMap((state) => Object.keys(TRANSITIONS[state]))).toEqual([]);
  });

  it("lets every live reservation be released and terminated", () => {
    for (const state of RESERVATION_STATES.filter(isLive)) {
      expect(follow(state, "release")).toBe("released");
      expect(follow(state, "terminate")).toBe("terminated");
    }
  });

  it("leads back from preempting only by a reprieve, to what it was", () => {
    for (const state of RESERVATION_STATES)
      for (const [trigger, next] of Object.entries(TRANSITIONS[state]))
        if (next === "scheduled" || (state === "preempting" && isLive(next)))
          expect(`${state} ${trigger} ${next}`).toMatch(
            /^preempting (reprieve active|reprieveUnbegun scheduled)$/,
          );
  });

  it("reaches every state from scheduled", () => {
    const reached = new Set(["scheduled"]);
    for (const state of reached)
      for (const next of Object.values(TRANSITIONS[state as keyof typeof TRANSITIONS]))
        reached.add(next);
    expect([...reached].sort()).toEqual([...RESERVATION_STATES].sort());
  });

  it("throws for a way that it does not have", () => {
    for (const state of RESERVATION_STATES)
      for (const trigger of TRIGGERS) {
        const next = TRANSITIONS[state][trigger];
        if (next === undefined) expect(() => follow(state, trigger)).toThrow(trigger);
        else expect(follow(state, trigger)).toBe(next);
      }
  });
});
