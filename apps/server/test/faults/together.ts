/** What the tests of several writers share: metrics read back, and keys counted in the database. */
import type { TestDatabase } from "@berth/db/testing";
import { expect } from "vitest";

export const METRICS_TOKEN = "test-metrics-token-0123456789abcdefghij";
export const METRICS = { BERTH_METRICS_TOKEN: METRICS_TOKEN };

/** The sum of a counter's samples, of those whose labels contain the text. */
export async function counter(url: string, name: string, labels = ""): Promise<number> {
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  expect(response.status).toBe(200);
  const lines = (await response.text()).split("\n");
  return lines
    .filter((line) => line.startsWith(name) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Every key with the reservation that it made, and how often the database has the key. */
export async function keysInDatabase(
  database: TestDatabase,
): Promise<Map<string, { reservationId: string; times: number }>> {
  const rows = await database.sql<{ key: string; id: string; times: number }[]>`
    select k.key, min(k.reservation_id) as id, count(r.id)::int as times
      from reservation_keys k left join reservations r on r.id = k.reservation_id
     group by k.key`;
  return new Map(rows.map(({ key, id, times }) => [key, { reservationId: id, times }]));
}

/** Each acknowledged key is in the database once, with the id that was answered. */
export async function expectEachKeyOnce(
  database: TestDatabase,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const stored = await keysInDatabase(database);
  const wrong = [...acknowledged].filter(([key, id]) => {
    const row = stored.get(key);
    return row?.reservationId !== id || row.times !== 1;
  });
  expect(wrong).toEqual([]);
  expect(stored.size).toBe(acknowledged.size);
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from reservations`;
  expect(row?.count).toBe(acknowledged.size);
}
