/** The commands that book and that change a booking. */
import { type CommandSpec, type Flag, YES } from "../spec.ts";

const SHAPE: readonly Flag[] = [
  {
    flags: "--together <where>",
    says: "keep them on one node, in one nvlink domain, on one rack, in one zone, or by any label of nodes",
    values: ["node", "nvlink", "rack", "zone"],
  },
  { flags: "--per-node <n>", says: "how many of them one node has at most; default 8" },
  {
    flags: "--model <name>",
    says: "only GPUs of this model, as the hardware reports it; a plan that it rules out lists what there is",
  },
  { flags: "--pool <id|label>", says: "where; else the one pool that it fits in" },
  {
    flags: "--start <time>",
    says: 'from when: "mon 09:00", "+2h", 2026-12-07T09:00:00Z; default now',
  },
  { flags: "--for <duration>", says: "how long: 7d, 4h, 2h30m, PT90M (a day is 24 h)" },
  { flags: "--spot", says: "may be taken back with the pool's notice" },
];

const preview: CommandSpec = {
  name: "preview",
  says: "ask whether it fits, and where; writes nothing and looks at no quota",
  about:
    "Status 3 when it does not fit, also not once spot has made way. berth book --dry-run shows the whole plan, quota included.",
  arguments: [{ name: "<gpus>", says: "how many GPUs" }],
  flags: SHAPE,
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth preview 8 --together node --for 4h", says: "eight GPUs of one node, now" },
    {
      line: "berth preview 16 --for 7d -o json | jq .earliestStart",
      says: "when, in milliseconds",
    },
  ],
  load: async () => (await import("../commands/preview.ts")).preview,
};

const book: CommandSpec = {
  name: "book",
  says: "show the plan, ask, and book",
  about:
    "The plan says whether it fits and why not, on which nodes, the window here and in UTC, and the quota left. It goes to " +
    "standard error, the reservation to standard output; with --dry-run the plan is the data. Status 3 when it does not fit.",
  arguments: [{ name: "<gpus>", says: "how many GPUs" }],
  flags: [
    ...SHAPE,
    {
      flags: "--lease <seconds>",
      says: "it lapses unless renewed at least this often, 30 to 86400",
    },
    { flags: "--project <id>", says: "a tag of your own, prj_…" },
    {
      flags: "--key <text>",
      says: "names this booking: again with it, and nothing is booked twice",
    },
    { flags: "--dry-run", says: "only show the plan: status 0 when it fits, 3 when it does not" },
    YES,
  ],
  isTenants: true,
  isAnswer: true,
  examples: [
    {
      line: 'berth book 16 --together rack --start "mon 09:00" --for 7d',
      says: "sixteen GPUs on one rack, for a week",
    },
    { line: "berth book 8 --for 4h --dry-run", says: "the plan alone" },
    { line: "berth book 1 --for 2h --yes -o json | jq -r .id", says: "from a script" },
  ],
  load: async () => (await import("../commands/book.ts")).book,
};

const renew: CommandSpec = {
  name: "renew",
  says: "keep a booking with a lease for another term",
  arguments: [{ name: "<reservation>", says: "its id, rsv_…" }],
  isTenants: true,
  isAnswer: true,
  examples: [{ line: "berth renew rsv_…", says: "until now and its lease's seconds" }],
  load: async () => (await import("../commands/change.ts")).renew,
};

const extend: CommandSpec = {
  name: "extend",
  says: "make a booking last longer, on the same units",
  about: "It is tried first: what would come of it is shown before anything is asked or done.",
  arguments: [{ name: "<reservation>", says: "its id, rsv_…" }],
  flags: [
    { flags: "--until <time>", says: 'the new end: "fri 18:00", or "+2h" after the present one' },
    { flags: "--dry-run", says: "only show what would come of it: status 3 when there is no room" },
    YES,
  ],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: 'berth extend rsv_… --until "+2h"', says: "two hours more" },
    { line: 'berth extend rsv_… --until "fri 18:00" --yes', says: "until Friday evening" },
  ],
  load: async () => (await import("../commands/change.ts")).extend,
};

const release: CommandSpec = {
  name: "release",
  says: "give a booking back now, or call off one to come",
  arguments: [{ name: "<reservation>", says: "its id, rsv_…" }],
  flags: [YES],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth release rsv_…", says: "shows what ends, then asks" },
    { line: "berth release rsv_… --yes", says: "from a script" },
  ],
  load: async () => (await import("../commands/change.ts")).release,
};

const reclaim: CommandSpec = {
  name: "reclaim",
  says: "take set-aside GPUs back from the spot market",
  about:
    "Shows first which spot bookings would end, then asks for their number to be typed. What ends is exactly what was shown, or nothing: when it has changed meanwhile the status is 3 and nothing was done.",
  arguments: [{ name: "<unit-reservation>", says: "its id, ursv_…" }],
  flags: [
    { flags: "--units <ids>", says: "only these of its units, by comma" },
    { flags: "--dry-run", says: "only show what would end" },
    {
      flags: "--expect <n>",
      says: "for scripts: go on when exactly so many would end, else status 3",
    },
  ],
  isAnswer: true,
  examples: [
    { line: "berth reclaim ursv_…", says: "the plan, then the question" },
    { line: "berth reclaim ursv_… --expect 3", says: "from a script: three, or nothing" },
  ],
  load: async () => (await import("../commands/reclaim.ts")).reclaim,
};

export const BOOKING: readonly CommandSpec[] = [preview, book, renew, extend, release, reclaim];
