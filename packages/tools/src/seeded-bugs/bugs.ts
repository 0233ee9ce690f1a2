/**
 * Bugs as edits of the sources, each with the one suite that has to see it. They are made in a throw-away
 * copy: the product has no switch for any of them.
 */

export interface Suite {
  readonly project: "unit" | "db";
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface SeededBug {
  readonly name: string;
  /** All in one file; each text is there exactly once. */
  readonly file: string;
  readonly edits: readonly { readonly find: string; readonly replace: string }[];
  readonly suite: Suite;
  /** What the suite has to say: a test's name, or the invariant that was hurt. */
  readonly expect: RegExp;
}

const GATE = "packages/db/migrations/0001_gate.sql";
/** It has the newest text of some functions of the gate. */
const GATES = "packages/db/migrations/0002_gates_together.sql";
const gateSuite: Suite = { project: "db", file: "packages/db/src/store/gate.test.ts" };
const outcomeSuite: Suite = { project: "db", file: "packages/db/src/store/outcome.test.ts" };
const eventsSuite: Suite = {
  project: "db",
  file: "packages/api/src/groups/events/events.test.ts",
};
const feedSuite: Suite = { project: "db", file: "packages/api/src/feed/feed.test.ts" };
const TAIL = "packages/api/src/feed/tail.ts";
const simulation: Suite = {
  project: "db",
  file: "packages/engine/src/simulation-even.test.ts",
  env: { SIM_RUNS: "60", SIM_SHRINK_MS: "0" },
};

const CUTS = `  if p_batch ? 'cuts' then
    update bookings b set during = int8range(lower(b.during), c."end")
    from jsonb_to_recordset(p_batch -> 'cuts') c (id text, "end" bigint)
    where b.reservation_id = c.id;
  end if;
`;
const BOOKINGS_END = `    from jsonb_to_recordset(p_batch -> 'bookings') n (id text, unit_id text, start bigint, "end" bigint);
  end if;
`;

export const BUGS: readonly SeededBug[] = [
  {
    name: "no row lock in the gate",
    file: GATE,
    edits: [
      {
        find: "select seq, last_at into v_seq, v_last from gates where id = p_gate for no key update;",
        replace: "select seq, last_at into v_seq, v_last from gates where id = p_gate;",
      },
    ],
    suite: outcomeSuite,
    expect: /comes after it was asked for is fenced off/,
  },
  {
    name: "the expected sequence is not compared",
    file: GATE,
    edits: [{ find: "if coalesce(v_seq, 0) <> p_expected then", replace: "if false then" }],
    suite: gateSuite,
    expect: /a stale seq writes nothing/,
  },
  {
    name: "windows meet by <= instead of <",
    file: "packages/domain/src/state/calendar.ts",
    edits: [
      {
        find: "while (at < stop && (times[2 * at + 1] as number) <= start) at += 1;",
        replace: "while (at < stop && (times[2 * at + 1] as number) < start) at += 1;",
      },
    ],
    suite: { project: "unit", file: "packages/domain/src/placer/place.test.ts" },
    expect: /right before and right after a booking is free/,
  },
  {
    name: "an event is left out of its write",
    file: "packages/engine/src/batch-turn.ts",
    edits: [
      {
        find: "events: [...this.#events],",
        replace: 'events: this.#events.filter(({ type }) => type !== "reservation.completed"),',
      },
    ],
    suite: simulation,
    expect: /nobody was told/,
  },
  {
    name: "events are numbered early and read late: no horizon",
    file: "packages/api/src/groups/events/feed.ts",
    edits: [{ find: "      and xid < pg_snapshot_xmin(pg_current_snapshot())\n", replace: "" }],
    suite: eventsSuite,
    expect: /does not skip a transaction that is held open/,
  },
  {
    name: "the live feed has no horizon",
    file: TAIL,
    edits: [{ find: "          and xid < pg_snapshot_xmin(pg_current_snapshot())\n", replace: "" }],
    suite: feedSuite,
    expect: /every event once and in order while many write/,
  },
  {
    name: "quota is not returned on release",
    file: "packages/domain/src/state/holdings.ts",
    edits: [
      {
        find: "books.usage.charge({ tenantId, resource }, reservation, step * amount);",
        replace:
          "if (step === 1) books.usage.charge({ tenantId, resource }, reservation, step * amount);",
      },
    ],
    suite: {
      project: "unit",
      file: "packages/domain/src/whole-domain.prop.test.ts",
      env: { WHOLE_DOMAIN_RUNS: "60" },
    },
    expect: /and is charged|each rule holds after each step/,
  },
  {
    name: "the rollup is missed on heal",
    file: "packages/engine/src/batch-turn.ts",
    edits: [
      {
        find: "rollup: this.state.config ? this.state.rollup() : [],",
        replace:
          'rollup: this.#events.some(({ type }) => type === "reservation.healed") ? [] : this.state.config ? this.state.rollup() : [],',
      },
    ],
    suite: simulation,
    expect: /is stored as/,
  },
  {
    name: "a retry has a fresh key",
    file: "packages/client/src/call.ts",
    edits: [
      {
        find: "attemptOnce(send, { kind: method.kind, input: keyed, signal, request })",
        replace:
          "attemptOnce(send, { kind: method.kind, input: withKey(method, input, options).keyed, signal, request })",
      },
    ],
    suite: { project: "unit", file: "packages/client/src/call.test.ts" },
    expect: /an idempotency key/,
  },
  {
    name: "a lost write is looked for without the lock",
    file: GATE,
    edits: [
      {
        find: "  perform from gates where id = p_gate for no key update;\n  select seq into v_seq from gate_batches where batch_id = p_batch_id;",
        replace: "  select seq into v_seq from gate_batches where batch_id = p_batch_id;",
      },
    ],
    suite: outcomeSuite,
    expect: /a write that runs on alone is waited for/,
  },
  {
    name: "the cache is not told of a node's new state",
    file: "packages/engine/src/pool-cache.ts",
    edits: [
      {
        find: 'const readBack = batch.changes.some((change) => change.kind === "node");',
        replace:
          'const readBack = batch.changes.some((c) => c.kind === "node" && c.before?.state === c.after?.state);',
      },
    ],
    suite: simulation,
    expect: /a server holds of|is not the one that is there|is stored as|was left undone/,
  },
  {
    name: "a reader's cursor is read with >=",
    file: "packages/api/src/groups/events/feed.ts",
    edits: [{ find: "and (xid, id) > (", replace: "and (xid, id) >= (" }],
    suite: eventsSuite,
    expect: /without repeats/,
  },
  {
    name: "a victim is cut after its successor is inserted",
    file: GATES,
    edits: [
      { find: CUTS, replace: "" },
      { find: BOOKINGS_END, replace: BOOKINGS_END + CUTS },
    ],
    suite: gateSuite,
    expect: /a window that a cut freed is booked in the same batch/,
  },
];
