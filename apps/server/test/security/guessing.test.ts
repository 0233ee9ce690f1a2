/** Who guesses keys is held back before the database is asked, and nobody else is. */
import { randomBytes } from "node:crypto";
import { makeToken } from "@berth/api/testing";
import { faultProxy, testDatabase } from "@berth/db/testing";
import { expect, it } from "vitest";
import { startServer } from "../harness.ts";

/** Well formed, with the right checksum, and nobody's. */
const strangersKey = () => makeToken(`key_${randomBytes(13).toString("hex")}`, randomBytes);

/** A server whose database is behind a proxy, and who calls it from which address. */
async function guessed() {
  const database = await testDatabase();
  const proxy = await faultProxy(database.url);
  const server = await startServer({
    database: { ...database, url: proxy.url },
    config: { trustedProxies: ["127.0.0.1"] },
  });
  return {
    proxy,
    good: await server.token("t-a"),
    async from(address: string, token: string): Promise<number> {
      const headers = { "x-forwarded-for": address };
      return (await server.http("access.whoami", {}, { token, headers })).status;
    },
    async stop(): Promise<void> {
      await server.stop();
      await proxy.close();
      await database.close();
    },
  };
}

it("of 2,000 guesses from one address 300 are looked at, and the database is not asked about the others", async () => {
  const { proxy, good, from, stop } = await guessed();
  try {
    const guess = async (address: string, times: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let n = 0; n < times; n += 1) statuses.push(await from(address, strangersKey()));
      return statuses;
    };
    expect(await from("192.0.2.1", good)).toBe(200);

    const all = await guess("192.0.2.1", 2_000);
    expect(all).toEqual([...Array(300).fill(401), ...Array(1_700).fill(429)]);
    expect(await from("192.0.2.1", good)).toBe(200);

    // Nineteen more do what it did: each has tries of its own, and none of them is in another's way.
    const addresses = Array.from({ length: 19 }, (_, n) => `192.0.2.${n + 2}`);
    const theirs = await Promise.all(addresses.map((address) => guess(address, 20)));
    expect(new Set(theirs.flat())).toEqual(new Set([401]));
    expect(await from("192.0.2.200", good)).toBe(200);

    // Without a database whoever asks it is told so; the guesser is not asked about.
    proxy.set({ kind: "refuse" });
    proxy.cutAll();
    expect(new Set(await guess("192.0.2.1", 50))).toEqual(new Set([429]));
    expect(await guess("192.0.2.201", 1)).toEqual([503]);
  } finally {
    await stop();
  }
}, 120_000);

it("guesses made at once are counted before any of them has failed, and a good key's first calls are not", async () => {
  const { proxy, good, from, stop } = await guessed();
  try {
    const tally = (statuses: readonly number[]) =>
      Object.fromEntries(
        Object.entries(Object.groupBy(statuses, String)).map(([s, all]) => [s, all?.length]),
      );
    // Nothing that is asked of the database comes back while they all arrive.
    proxy.set({ kind: "latency", ms: 30 });
    // On a machine that does more than this the server is busy and turns some away: they come again, as they are told.
    const until = async (...call: Parameters<typeof from>): Promise<number> => {
      for (;;) {
        const status = await from(...call);
        if (status !== 503) return status;
      }
    };
    const guesses = Array.from({ length: 900 }, () => until("192.0.2.1", strangersKey()));
    const firsts = Array.from({ length: 400 }, () => until("192.0.2.2", good));
    const same = strangersKey();
    const copies = Array.from({ length: 400 }, () => until("192.0.2.3", same));
    expect(tally(await Promise.all(guesses))).toEqual({ 401: 300, 429: 600 });
    expect(tally(await Promise.all(firsts))).toEqual({ 200: 400 });
    expect(tally(await Promise.all(copies))).toEqual({ 401: 400 });
    // One wrong key is one guess, however often it comes at once.
    expect(await from("192.0.2.3", strangersKey())).toBe(401);
  } finally {
    await stop();
  }
}, 120_000);

it("an IPv6 caller's addresses are counted as the network that it was given", async () => {
  const server = await startServer({
    config: { trustedProxies: ["127.0.0.1"], addressRateLimit: 5 },
  });
  try {
    const from = async (address: string) => {
      const headers = { "x-forwarded-for": address };
      return (await server.http("access.whoami", {}, { headers })).status;
    };
    const statuses: number[] = [];
    for (let n = 1; n <= 6; n += 1) statuses.push(await from(`2001:db8:0:1::${n}`));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await from("2001:db8:0:2::1")).toBe(200);
  } finally {
    await server.stop();
  }
});
