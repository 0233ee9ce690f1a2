import type { Reservation } from "@berth/client";
import { describe, expect, it } from "vitest";
import { calendarOf } from "./ical.ts";

const booking: Reservation = {
  id: "rsv_a",
  tenantId: "vision",
  poolId: "pool_a",
  projectId: null,
  state: "scheduled",
  binding: "hold",
  spot: true,
  start: Date.UTC(2026, 11, 7, 8),
  end: Date.UTC(2026, 11, 14, 8),
  leaseSeconds: null,
  leaseExpiresAt: null,
  topology: "any",
  gang: null,
  node: null,
  devices: [{ class: "gpu", count: 8 }],
  resources: { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 },
  members: null,
  preemption: null,
  degraded: null,
  endedAt: null,
  endReason: null,
  version: 3,
  createdBy: "me",
  createdAt: 0,
  updatedAt: 0,
};

const of = (reservation: Partial<Reservation>, poolName = "H100"): string =>
  calendarOf([{ ...booking, ...reservation }], {
    now: 0,
    poolName: () => poolName,
    linkTo: (id) => `https://berth.test/?rsv=${id}`,
  });

describe("the calendar file", () => {
  it("has an entry a reservation, in UTC, that a second import changes and does not double", () => {
    const lines = of({}).split("\r\n");
    expect(lines).toContain("UID:rsv_a@berth");
    expect(lines).toContain("SEQUENCE:3");
    expect(lines).toContain("DTSTART:20261207T080000Z");
    expect(lines).toContain("DTEND:20261214T080000Z");
    expect(lines).toContain(String.raw`SUMMARY:8 GPUs\, spot in H100`);
  });

  it("ends a booking when it ended", () => {
    expect(of({ endedAt: Date.UTC(2026, 11, 8), state: "released" })).toContain(
      "DTEND:20261208T000000Z",
    );
    // One that was called off before it began takes no time at all.
    expect(of({ endedAt: 0, state: "released" })).toContain("DTEND:20261207T080000Z");
  });

  it("folds at 75 octets without cutting a letter, and lets no text make a line of its own", () => {
    const text = of({}, `évil\nBEGIN:VEVENT;${"é".repeat(100)}`);
    for (const line of text.split("\r\n"))
      expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
    expect(text.split("\r\n").filter((line) => line === "BEGIN:VEVENT")).toHaveLength(1);
    expect(text.replaceAll("\r\n ", "")).toContain("é".repeat(100));
  });
});
