import { expect, it } from "vitest";
import { keyPrefix, staleKeysOf } from "./stale-keys.ts";

it("a booking makes stale what counts, lists and quotes bookings, and the trail", () => {
  const keys = staleKeysOf("reservation.created");
  expect(keys).toContain("capacity");
  expect(keys).toContain("reservations");
  expect(keys).toContain("fleet.listNodes");
  expect(keys).toContain("events");
  expect(keys).not.toContain("access.listKeys");
});

it("an event of a later server makes everything stale that any event does", () => {
  expect(staleKeysOf("invoice.sent")).toEqual(
    expect.arrayContaining(["capacity", "pools", "reservations", "fleet", "unitReservations"]),
  );
});

it("a key is the prefix that the client's factories begin with", () => {
  expect(keyPrefix("fleet.listNodes")).toEqual(["berth", "fleet", "listNodes"]);
  expect(keyPrefix("capacity")).toEqual(["berth", "capacity"]);
});
