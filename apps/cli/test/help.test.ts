/** Help, completion, the operators' part, and what a start loads. */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { addOperatorCommands } from "@berth/server/commands";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { referencePage } from "../src/reference.ts";
import { flagsOf } from "../src/spec.ts";
import { COMMANDS, OPERATORS } from "../src/specs/index.ts";
import { BIN, berth, inProcess } from "./kit.ts";

const shell = promisify(execFile);
const NOBODY = { HOME: "/nonexistent", XDG_CONFIG_HOME: "/nonexistent" };

describe("help", () => {
  it.each(COMMANDS.map((spec) => [spec.name, spec] as const))(
    "of %s has every flag and one to three examples that parse",
    async (name, spec) => {
      const { code, out, err } = await inProcess(["help", name], NOBODY);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      for (const { flags } of flagsOf(spec)) expect(out).toContain(flags);
      expect(spec.examples.length).toBeGreaterThan(0);
      expect(spec.examples.length).toBeLessThanOrEqual(3);
      for (const { line } of spec.examples) {
        expect(out).toContain(line);
        for (const [flag] of line.matchAll(/(?<= )--[a-z-]+/g)) expect(out).toContain(flag);
      }
    },
  );

  it("of all lists people's commands, then the operators'", async () => {
    const { code, out } = await inProcess([], NOBODY);
    expect(code).toBe(0);
    const [people = "", operators = ""] = out.split("For operators:");
    for (const { name } of COMMANDS) expect(people).toMatch(new RegExp(`^ {2}${name} `, "m"));
    for (const name of OPERATORS) expect(operators).toMatch(new RegExp(`^ {2}${name} `, "m"));
  });

  it("suggests what was meant", async () => {
    const { code, out, err } = await inProcess(["boook"], NOBODY);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^berth: unknown command 'boook'\n\(Did you mean book\?\)/);
  });
});

describe("the operators' commands", () => {
  it("are the ones that the server has", () => {
    const program = new Command();
    addOperatorCommands(program);
    const names = program.commands
      .map((command) => command.name())
      .filter((name) => name !== "reference");
    expect(names).toEqual([...OPERATORS]);
  });

  it("run as the server's own", async () => {
    const keys = await berth(["keys", "create", "--help"], NOBODY);
    expect(keys.code).toBe(0);
    expect(keys.out).toMatch(/--tenant <id> +\(required\)/);
    const settings = await berth(["help", "serve"], NOBODY);
    expect(settings.out).toContain("DATABASE_URL");
    const wrong = await berth(["keys", "list", "--tenant", "x"], { ...NOBODY, PORT: "none" });
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(/^berth: PORT must be/);
  });

  it("say so where the server is not installed, and the others run without it", async () => {
    const alone = mkdtempSync(join(tmpdir(), "berth-alone-"));
    const own = fileURLToPath(new URL("..", import.meta.url));
    for (const part of ["bin", "src", "package.json"])
      cpSync(join(own, part), join(alone, part), { recursive: true });
    cpSync(join(own, "node_modules"), join(alone, "node_modules"), {
      recursive: true,
      dereference: false,
      filter: (from) => !from.endsWith(join("@berth", "server")) && !from.includes(".cache"),
    });
    try {
      const call = (...args: string[]) =>
        spawnSync(process.execPath, [join(alone, "bin/berth.js"), ...args], { encoding: "utf8" });
      const serve = call("serve");
      expect(serve.status).toBe(2);
      expect(serve.stderr).toContain(
        "comes with the package @berth/server, which is not installed here",
      );
      const help = call("--help");
      expect(help.status).toBe(0);
      expect(help.stdout).not.toContain("For operators:");
      expect(call("ls", "--help").status).toBe(0);
    } finally {
      rmSync(alone, { recursive: true, force: true });
    }
  });
});

describe("completion", () => {
  async function complete(...words: string[]): Promise<string[]> {
    const script = `eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _berth; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { out } = await inProcess(["completion", "bash"], NOBODY);
    const { stdout } = await shell("bash", ["-c", script, "bash", out, ...words]);
    return stdout.trim().split("\n");
  }

  it("in bash completes verbs, flags and the values of flags", async () => {
    expect(await complete("berth", "re")).toEqual(["renew", "release", "reclaim", "rebuild"]);
    expect(await complete("berth", "book", "--to")).toEqual(["--together"]);
    expect(await complete("berth", "book", "--together", "r")).toEqual(["rack"]);
    expect(await complete("berth", "ls", "-o", "j")).toEqual(["json", "jsonl"]);
    expect(await complete("berth", "keys", "cr")).toEqual(["create"]);
  });

  it.each(["zsh", "fish"])("for %s names every command and flag", async (name) => {
    const { code, out } = await inProcess(["completion", name], NOBODY);
    expect(code).toBe(0);
    for (const spec of COMMANDS) {
      expect(out).toContain(spec.name);
      for (const { flags } of flagsOf(spec)) {
        const long = /--([\w-]+)/.exec(flags)?.[1] ?? "";
        expect(out).toContain(name === "zsh" ? `--${long}[` : `-l ${long}`);
      }
    }
  });

  it("for another shell says which there are", async () => {
    const { code, err } = await inProcess(["completion", "csh"], NOBODY);
    expect(code).toBe(2);
    expect(err).toContain("bash, zsh, fish");
  });
});

describe("the reference page", () => {
  it("has every command", async () => {
    const page = await referencePage();
    for (const { name } of COMMANDS) expect(page).toContain(`### berth ${name}\n`);
    for (const name of ["serve", "keys create", "clock accept"])
      expect(page).toContain(`### berth ${name}\n`);
  });
});

describe("a start", () => {
  it("loads neither the client nor the server for help", () => {
    const { stderr } = spawnSync(process.execPath, [BIN, "ls", "--help"], {
      encoding: "utf8",
      env: { ...process.env, NODE_DEBUG: "esm" },
    });
    const loaded = stderr.match(/file:\/\/\S+/g) ?? [];
    expect(loaded.filter((url) => /packages\/client|apps\/server|chrono|clack/.test(url))).toEqual(
      [],
    );
  });
});
