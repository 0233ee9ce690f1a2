/** The commands that sign in and that look. */
import type { CommandSpec } from "../spec.ts";

const login: CommandSpec = {
  name: "login",
  says: "keep a server's address and a token for this user",
  about:
    "Tries them before it keeps them. They are kept in $XDG_CONFIG_HOME/berth/config.json (else ~/.config/berth), for your eyes alone. BERTH_URL, BERTH_TOKEN and BERTH_TENANT win over what is kept.",
  flags: [
    { flags: "--url <url>", says: "the server; else it is asked for" },
    {
      flags: "--token <->",
      says: "only -: the token is the first line of standard input; else it is asked for",
    },
    { flags: "--tenant <id>", says: "who is booked for from now on; else the key's own" },
  ],
  examples: [
    { line: "berth login", says: "asks for both; what is typed of the token is not shown" },
    {
      line: "berth login --url https://berth.internal --token - < token.txt",
      says: "from a script",
    },
  ],
  load: async () => (await import("../commands/login.ts")).login,
};

const whoami: CommandSpec = {
  name: "whoami",
  says: "show who the server takes you for",
  isAnswer: true,
  examples: [{ line: "berth whoami", says: "tenant, name, role, and when the token ends" }],
  load: async () => (await import("../commands/whoami.ts")).whoami,
};

const capacity: CommandSpec = {
  name: "capacity",
  says: "count what is free, booked and down, a line a pool",
  about:
    "A GPU that is booked now and again later counts as booked and as later, and is taken off what is free twice: free errs on the safe side. `berth preview` says what fits.",
  flags: [
    { flags: "--pool <id|label>", says: "only this pool" },
    { flags: "--all", says: "every resource, not GPUs alone" },
  ],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth capacity", says: "GPUs by pool" },
    { line: "berth capacity --pool h100 --all", says: "everything of one pool" },
  ],
  load: async () => (await import("../commands/capacity.ts")).capacity,
};

const pools: CommandSpec = {
  name: "pools",
  says: "list the pools that you may book in, with your quota",
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth pools", says: "a line a pool" },
    { line: "berth pools -o jsonl | jq -r .id", says: "their ids" },
  ],
  load: async () => (await import("../commands/pools.ts")).pools,
};

const ls: CommandSpec = {
  name: "ls",
  says: "list your bookings, newest first; those that have ended with --state",
  flags: [
    {
      flags: "--state <names>",
      says: "by comma, or all; default scheduled,active,preempting",
      values: [
        "all",
        "scheduled",
        "active",
        "preempting",
        "completed",
        "released",
        "expired",
        "preempted",
        "terminated",
      ],
    },
    { flags: "--pool <id|label>", says: "only in this pool" },
    { flags: "--project <id>", says: "only with this tag" },
    { flags: "--from <time>", says: "only what lasts beyond this" },
    { flags: "--to <time>", says: "only what begins before this" },
    { flags: "--limit <n>", says: "so many at most; default 50" },
    { flags: "--cursor <text>", says: "go on after the last page: its nextCursor" },
  ],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth ls", says: "what runs and what is to come" },
    { line: "berth ls --state all --limit 200 -o jsonl", says: "as lines of JSON" },
    { line: 'berth ls --from "tomorrow 00:00" --columns start,what,id', says: "three columns" },
  ],
  load: async () => (await import("../commands/ls.ts")).ls,
};

const show: CommandSpec = {
  name: "show",
  says: "show one booking: window, lease, nodes and GPUs",
  arguments: [{ name: "<reservation>", says: "its id, rsv_…" }],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth show rsv_…", says: "all there is to know" },
    {
      line: "berth show rsv_… -o json | jq -r '.members[].atoms[].gpuUuid'",
      says: "for a launcher",
    },
  ],
  load: async () => (await import("../commands/show.ts")).show,
};

const watch: CommandSpec = {
  name: "watch",
  says: "print what happens, as it happens, until you interrupt it",
  about:
    "Connections that break are opened again, and no event is lost or shown twice. A stream has no -o json: use jsonl.",
  arguments: [{ name: "[reservation]", says: "only this one, rsv_…" }],
  flags: [
    { flags: "--pool <id|label>", says: "only this pool" },
    { flags: "--after <cursor>", says: "from the event with this cursor on; else from now on" },
    { flags: "--count <n>", says: "end after so many events" },
  ],
  isTenants: true,
  isAnswer: true,
  examples: [
    { line: "berth watch", says: "everything of yours" },
    { line: "berth watch rsv_… -o jsonl", says: "one booking, for a program" },
  ],
  load: async () => (await import("../commands/watch.ts")).watch,
};

const api: CommandSpec = {
  name: "api",
  says: "call any method of the API by its name",
  about: "Answers JSON unless -o says otherwise. Streams are for berth watch.",
  arguments: [{ name: "<method>", says: "group.method, as in pools.list" }],
  flags: [
    { flags: "-f, --file <path>", says: "the input as JSON; - is standard input; absent: {}" },
    {
      flags: "-o, --output <form>",
      says: "json, jsonl or yaml; default json",
      values: ["json", "jsonl", "yaml"],
    },
  ],
  examples: [
    { line: "berth api access.whoami", says: "a method without input" },
    { line: `echo '{"tenantId":"vision"}' | berth api pools.list -f -`, says: "input from a pipe" },
  ],
  load: async () => (await import("../commands/api.ts")).api,
};

const completion: CommandSpec = {
  name: "completion",
  says: "print what makes your shell complete berth",
  arguments: [{ name: "<shell>", says: "bash, zsh or fish" }],
  examples: [
    { line: 'eval "$(berth completion bash)"', says: "in ~/.bashrc" },
    { line: "berth completion zsh > ~/.zfunc/_berth", says: "in a folder of fpath" },
    { line: "berth completion fish > ~/.config/fish/completions/berth.fish", says: "for fish" },
  ],
  load: async () => (await import("../commands/completion.ts")).completion,
};

export const SIGNING_IN: readonly CommandSpec[] = [login, whoami];
export const LOOKING: readonly CommandSpec[] = [capacity, pools, ls, show, watch];
export const OTHER: readonly CommandSpec[] = [api, completion];
