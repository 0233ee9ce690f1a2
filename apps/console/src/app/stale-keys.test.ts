import { expect, it } from "vitest";
import { keyPrefix, staleKeysOf } from "./stale-keys.ts";

it("a booking makes stale what counts, lists and quotes bookings, and the trail", () => {
  const keys = staleKeysOf("reservation.created");
  expect(keys).toContain("capacity");
  expect(keys).toContain("reservations.quote");
  expect(keys).toContain("fleet.listNodes");
  expect(keys).toContain("events.list");
  expect(keys).not.toContain("access.listKeys");
});

it("an event of a later server makes everything stale that any event does", () => {
  const all = staleKeysOf("invoice.sent");
  for (const type of [
    "reservation.created",
    "node.removed",
    "unitReservation.released",
    "key.revoked",
  ])
    expect(all).toEqual(expect.arrayContaining([...staleKeysOf(type)]));
});

it("a key is the prefix that the client's factories begin with", () => {
  expect(keyPrefix("fleet.listNodes")).toEqual(["berth", "fleet", "listNodes"]);
  expect(keyPrefix("capacity")).toEqual(["berth", "capacity"]);
});
