import { describe, expect, it } from "vitest";
import { inTurn, rejection, tenantId, told, withServer } from "../test/berth-on-wire.ts";
import type { Arrived, Reply } from "../test/wire-server.ts";
import { isBerthError } from "./index.ts";

const PAGES = new Map<unknown, object>([
  [undefined, { reservations: [{ id: "a" }, { id: "b" }], nextCursor: "2" }],
  ["2", { reservations: [], nextCursor: "3" }],
  ["3", { reservations: [{ id: "c" }], nextCursor: null }],
]);
const inPages = ({ input }: Arrived): Reply => ({
  data: PAGES.get((input as { cursor?: string }).cursor),
});

describe("a list", () => {
  it("is its first page when it is awaited", async () => {
    await withServer(inPages, async (berth, server) => {
      const page = await berth.reservations.list({ tenantId });
      expect(page.reservations.map(({ id }) => id)).toEqual(["a", "b"]);
      expect(page.nextCursor).toBe("2");
      expect(server.requests()).toBe(1);
      const whole = await berth.reservations.list({ tenantId }).withResponse();
      expect(whole.data.nextCursor).toBe("2");
    });
  });

  it("is every entry of every page when it is looped over, and asks for no page before it is wanted", async () => {
    await withServer(inPages, async (berth, server) => {
      const ids: string[] = [];
      for await (const { id } of berth.reservations.list({ tenantId, limit: 2 })) {
        ids.push(id);
        expect(server.requests()).toBe(id === "c" ? 3 : 1);
      }
      expect(ids).toEqual(["a", "b", "c"]);
      expect(server.arrived.map(({ input }) => input)).toEqual([
        { tenantId, limit: 2 },
        { tenantId, limit: 2, cursor: "2" },
        { tenantId, limit: 2, cursor: "3" },
      ]);
    });
  });

  it("asks for no more when the loop is left", async () => {
    await withServer(inPages, async (berth, server) => {
      for await (const { id } of berth.reservations.list({ tenantId })) {
        expect(id).toBe("a");
        break;
      }
      for await (const page of berth.reservations.list({ tenantId }).pages()) {
        expect(page.nextCursor).toBe("2");
        break;
      }
      expect(server.requests()).toBe(2);
    });
  });

  it("is an array of at most so many entries, and asks for no page beyond them", async () => {
    await withServer(inPages, async (berth, server) => {
      const taken = async (limit: number): Promise<string> => {
        const entries = await berth.reservations.list({ tenantId }).toArray({ limit });
        return entries.map(({ id }) => id).join("");
      };
      expect(await taken(2)).toBe("ab");
      expect(server.requests()).toBe(1);
      expect(await taken(3)).toBe("abc");
      expect(await taken(100)).toBe("abc");
      expect(await taken(Infinity)).toBe("abc");
      for (const limit of [0, -1, 1.5, Number.NaN, "2", undefined] as number[])
        await expect(taken(limit), String(limit)).rejects.toThrow(
          `toArray needs a limit of at least 1, a whole number or Infinity, as in toArray({ limit: 100 }): not ${limit}`,
        );
      const bare = berth.reservations.list({ tenantId }).toArray as unknown as () => Promise<never>;
      await expect(bare()).rejects.toThrow("toArray needs a limit of at least 1");
    });
  });

  it("is each kind of page that the API has", async () => {
    const of = new Map<string, string>([
      ["reservations.list", "reservations"],
      ["unitReservations.list", "unitReservations"],
      ["fleet.listNodes", "nodes"],
      ["access.audit", "entries"],
      ["events.list", "events"],
    ]);
    const first = ({ method, input }: Arrived): Reply => {
      const { cursor, after } = input as { cursor?: string; after?: string };
      const isFirst = (cursor ?? after) === undefined;
      const id = isFirst ? "one" : `two after ${cursor === undefined ? "after" : "cursor"}`;
      return { data: { [of.get(method) ?? ""]: [{ id }], nextCursor: isFirst ? "x" : null } };
    };
    await withServer(first, async (berth) => {
      const limit = { limit: 9 };
      const all = await Promise.all([
        berth.reservations.list({ tenantId }).toArray(limit),
        berth.fleet.listNodes({ tenantId }).toArray(limit),
        berth.access.audit({ tenantId }).toArray(limit),
        berth.events.list({ tenantId }).toArray(limit),
      ]);
      expect(all.map((entries) => entries.map(({ id }) => id))).toEqual([
        ["one", "two after cursor"],
        ["one", "two after cursor"],
        ["one", "two after after"],
        ["one", "two after after"],
      ]);
    });
  });

  it("throws in the loop what a page failed with, and takes options for each page", async () => {
    const expired: Reply = { status: 410, berth: told("CURSOR_EXPIRED") };
    await withServer(inTurn({ data: PAGES.get(undefined) }, expired), async (berth) => {
      const ids: string[] = [];
      const walk = async (): Promise<void> => {
        for await (const { id } of berth.reservations.list({ tenantId })) ids.push(id);
      };
      expect(isBerthError(await rejection(walk()), "CURSOR_EXPIRED")).toBe(true);
      expect(ids).toEqual(["a", "b"]);
    });
    await withServer(inPages, async (berth, server) => {
      const controller = new AbortController();
      const list = berth.reservations.list({ tenantId }, { signal: controller.signal });
      const walk = async (): Promise<void> => {
        for await (const { id } of list) if (id === "b") controller.abort(new Error("enough"));
      };
      expect(String(await rejection(walk()))).toBe("Error: enough");
      expect(server.requests()).toBe(1);
    });
  });

  it("stops when the server answers the same page twice", async () => {
    await withServer(
      () => ({ data: { reservations: [{ id: "a" }], nextCursor: "same" } }),
      async (berth) => {
        const ids: string[] = [];
        const walk = async (): Promise<void> => {
          for await (const { id } of berth.reservations.list({ tenantId })) ids.push(id);
        };
        expect(await rejection(walk())).toMatchObject({
          code: "BAD_ANSWER",
          message: "the server answered the same page twice",
        });
        expect(ids).toEqual(["a", "a"]);
      },
    );
  });
});
