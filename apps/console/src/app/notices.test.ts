import type { Event } from "@berth/client";
import { describe, expect, it } from "vitest";
import { noticeOf } from "./notices.ts";

const said = (at: number): string => `at ${at}`;

function event(type: string, data: object = {}): Event {
  const common = { id: "1", cursor: "c", at: 0, tenantId: "vision", poolId: null, seq: null };
  const reservation = { reservationId: "rsv_1", end: 7, endReason: null, ...data };
  return { ...common, type, data: reservation } as unknown as Event;
}

describe("a notice", () => {
  it.each([
    ["reservation.endingSoon", "info", "It ends at 7."],
    ["reservation.preempting", "warning", "It ends at 7, after its notice."],
    ["reservation.expired", "error", "not renewed in time"],
  ])("is given for %s", (type, tone, body) => {
    const notice = noticeOf(event(type), said);
    expect(notice).toMatchObject({ tone, reservationId: "rsv_1" });
    expect(notice?.body).toContain(body);
  });

  it("of what others ended says why", () => {
    const notice = noticeOf(event("reservation.terminated", { endReason: "rack is moved" }), said);
    expect(notice?.body).toContain("rack is moved");
  });

  it.each(["reservation.created", "reservation.released", "pool.updated", "invoice.sent"])(
    "is not given for %s: who did it knows",
    (type) => expect(noticeOf(event(type), said)).toBeNull(),
  );
});
