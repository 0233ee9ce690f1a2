/** What a page takes for granted is said at its top: planted pages that do not say it. */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { boxOf } from "./box.ts";
import { nameFaults } from "./names.ts";
import { allPages } from "./pages.ts";
import { openModules } from "./run.ts";

let folder: string;
beforeAll(async () => {
  folder = await openModules();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const faultsOf = (...lines: string[]) =>
  nameFaults(
    [{ name: "page.md", path: "page.md", text: ["# A", "", ...lines].join("\n") }],
    folder,
  );
const ts = (...code: string[]) => ["```ts", ...code, "```"];
const sh = (...code: string[]) => ["```sh", ...code, "```"];
const hidden = (...block: string[]) => ["<!-- stage", ...block, "-->"];
const box = (...entries: string[]) => [
  "> **You have**",
  ">",
  ...entries.map((each) => `> - ${each}`),
];

const BERTH = "`berth`: `const berth = createBerth();` of `@berth/client`";

describe("a page's visible blocks", () => {
  it("use no name that only a hidden block or the runner defines", async () => {
    const stage = hidden(...ts('const booking = { id: "a" };'), ...sh("booking=a"));
    const faults = await faultsOf(
      ...stage,
      ...ts("console.log(booking.id, tenantId);"),
      ...sh('berth show "$booking"'),
    );
    expect(faults.map((fault) => fault.split(": say")[0])).toEqual([
      "page.md:12: no reader sees what booking is",
      "page.md:12: no reader sees what tenantId is",
      "page.md:15: no reader sees what $booking is",
    ]);
  });

  it("see what visible ones before them define, also those that are not run, and not those after", async () => {
    const defined = [
      "<!-- no-run: it waits -->",
      ...ts('import { gpus } from "@berth/client";', "const count = 8;"),
    ];
    expect(await faultsOf(...defined, ...ts("gpus(count);"))).toEqual([]);
    expect(await faultsOf(...sh("id=1"), ...sh('echo "$id"'))).toEqual([]);
    expect(await faultsOf(...ts("gpus(count);"), ...defined)).toEqual([
      expect.stringContaining("page.md:4: no reader sees what count is"),
    ]);
    expect(await faultsOf(...sh('echo "$id"'), ...sh("id=1"))).toEqual([
      expect.stringContaining("what $id is"),
    ]);
  });

  it("use in shorthands and types what they have, and members as they like", async () => {
    const faults = await faultsOf(
      ...ts(
        "const ask = { poolId, count: 1 };",
        "const one: Unit = ask;",
        "console.log(one.tenantId);",
      ),
    );
    expect(faults.map((fault) => /what (\w+) is/.exec(fault)?.[1])).toEqual(["poolId", "Unit"]);
  });

  it("use in the shell what it expands, and nothing that is quoted, a value of its own or set for one command", async () => {
    const quoted = sh("echo '$a' | jq '.x as $b | $b'", "cat <<'END'", "$c", "END", "echo $1 $?");
    expect(await faultsOf(...quoted)).toEqual([]);
    const set = sh(
      'for each in 1 2; do echo "$each"; done',
      "export KEY=1",
      "read -r line",
      'echo "$KEY$line"',
    );
    expect(await faultsOf(...set)).toEqual([]);
    const used = sh("cat <<END", "$d", "END", 'KEY="$e" env', 'echo "$KEY" "${f:-1}" $(echo "$g")');
    const names = (await faultsOf(...used)).map((fault) => /what (\S+) is/.exec(fault)?.[1]);
    expect(names).toHaveLength(5);
    expect(new Set(names)).toEqual(new Set(["$KEY", "$d", "$e", "$f", "$g"]));
  });
});

describe("the box", () => {
  it("names what they take for granted, with the line that makes it", async () => {
    const entries = [
      BERTH,
      "`$id`: `id=$(berth ls -o jsonl | jq -r .id)`",
      "a tenant: `await berth.access.whoami();`",
    ];
    const blocks = [...ts("await berth.access.whoami();"), ...sh('berth show "$id"')];
    expect(await faultsOf(...box(...entries), "", ...blocks)).toEqual([]);
    expect(boxOf(box(...entries).join("\n")).names).toEqual(new Set(["berth", "$id"]));
  });

  it("is at the top, names nothing that no block needs, and its lines are right", async () => {
    const use = ts("await berth.access.whoami();");
    expect(await faultsOf("## B", "", ...box(BERTH), "", ...use)).toEqual([
      expect.stringContaining("no reader sees what berth is"),
    ]);
    expect(await faultsOf(...box(BERTH, "`$id`: `id=1`"), "", ...use)).toEqual([
      "page.md: its box names $id, which no block needs from it",
    ]);
    const wrong = [BERTH.replace("()", '({ adress: "" })'), "`$id`: an id"];
    expect(await faultsOf(...box(...wrong), "", ...use, ...sh('echo "$id"'))).toEqual([
      expect.stringMatching(/^page\.md: a line of its box: error TS\d+: .*adress/),
      "page.md: no line of its box makes $id",
    ]);
  });
});

it("every page that is run says what it takes for granted", async () => {
  const pages = allPages();
  expect(pages.length).toBeGreaterThan(15);
  expect(await nameFaults(pages, folder)).toEqual([]);
});
