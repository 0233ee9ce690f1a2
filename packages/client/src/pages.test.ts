import { describe, expect, it } from "vitest";
import { rejection, tenantId, withServer } from "../test/berth-on-wire.ts";

describe("listAll", () => {
  it("answers every entry of every page and asks for no page before it is wanted", async () => {
    const pages = new Map([
      [undefined, { reservations: [{ id: "a" }, { id: "b" }], nextCursor: "2" }],
      ["2", { reservations: [], nextCursor: "3" }],
      ["3", { reservations: [{ id: "c" }], nextCursor: null }],
    ]);
    await withServer(
      (call) => ({ data: pages.get((call.input as { cursor?: string }).cursor) }),
      async (berth, server) => {
        const ids: string[] = [];
        for await (const { id } of berth.reservations.listAll({ tenantId, limit: 2 })) {
          ids.push(id);
          expect(server.requests()).toBe(id === "c" ? 3 : 1);
        }
        expect(ids).toEqual(["a", "b", "c"]);
        for await (const { id } of berth.reservations.listAll({ tenantId })) {
          expect(id).toBe("a");
          break;
        }
        expect(server.requests()).toBe(4);
      },
    );
  });

  it("stops when the server answers the same page twice", async () => {
    await withServer(
      () => ({ data: { reservations: [{ id: "a" }], nextCursor: "same" } }),
      async (berth) => {
        const ids: string[] = [];
        const walk = async (): Promise<void> => {
          for await (const { id } of berth.reservations.listAll({ tenantId })) ids.push(id);
        };
        expect(String(await rejection(walk()))).toContain("same page twice");
        expect(ids).toEqual(["a", "a"]);
      },
    );
  });
});
