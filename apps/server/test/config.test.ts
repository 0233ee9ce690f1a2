/** A setting that cannot be used stops the start with a line that names it, and never shows its value. */
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../src/index.ts";
import { describeVariables } from "../src/config.ts";
import { spawnBerth } from "./harness.ts";

const problemOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
};

describe("settings", () => {
  it("have safe defaults: loopback, embedded database, no metrics", () => {
    expect(readConfig({})).toMatchObject({
      port: 8787,
      host: "127.0.0.1",
      databaseUrl: null,
      dataDir: ".berth",
      rateLimit: 60_000,
      metricsToken: null,
      logLevel: "info",
    });
  });

  it("take an empty variable as not set", () => {
    expect(readConfig({ DATABASE_URL: "", PORT: "" })).toMatchObject({
      databaseUrl: null,
      port: 8787,
    });
  });

  it.each([
    ["PORT", "65536"],
    ["PORT", "eighty"],
    ["DATABASE_URL", "mysql://localhost/berth"],
    ["BERTH_BOOTSTRAP_TOKEN", "short-secret"],
    ["BERTH_PLATFORM_ORG", "not a tenant"],
    ["BERTH_RATE_LIMIT", "0"],
    ["BERTH_SEAL_KEY", "too short"],
    ["BERTH_METRICS_TOKEN", "short-secret"],
    ["LOG_LEVEL", "loud"],
  ])("%s=%s is refused in one line that names it and hides the value", (name, value) => {
    const problem = problemOf({ [name]: value });
    expect(problem.split("\n")).toHaveLength(1);
    expect(problem).toMatch(new RegExp(`^${name} must `));
    if (name.includes("TOKEN") || name.includes("KEY")) expect(problem).not.toContain(value);
  });

  it("name every bad variable, a line each", () => {
    expect(problemOf({ PORT: "x", LOG_LEVEL: "loud" }).split("\n")).toHaveLength(2);
  });

  it("take a seal key in hex and in base64", () => {
    const bytes = new Uint8Array(32).fill(7);
    for (const encoding of ["hex", "base64"] as const) {
      expect(readConfig({ BERTH_SEAL_KEY: Buffer.from(bytes).toString(encoding) }).sealKey).toEqual(
        bytes,
      );
    }
  });
});

describe("the command line", () => {
  it("lists every environment variable in --help", async () => {
    const command = spawnBerth(["serve", "--help"]);
    expect((await command.ended).code).toBe(0);
    for (const line of describeVariables().split("\n")) expect(command.stdout()).toContain(line);
  });

  it("ends with status 2 and one line on a bad setting", async () => {
    const command = spawnBerth(["serve"], { PORT: "eighty" });
    expect((await command.ended).code).toBe(2);
    expect(command.stderr()).toBe("berth: PORT must be a whole number from 0 to 65535\n");
    expect(command.stdout()).toBe("");
  });

  it("ends with status 2 on an unknown command", async () => {
    const command = spawnBerth(["frobnicate"]);
    expect((await command.ended).code).toBe(2);
    expect(command.stderr()).toContain("frobnicate");
  });

  it("ends with status 5 when the server cannot be reached", async () => {
    const command = spawnBerth(["keys", "list", "--tenant", "t-a"], {
      BERTH_URL: "http://127.0.0.1:9",
      BERTH_TOKEN: "x".repeat(40),
    });
    expect((await command.ended).code).toBe(5);
  });
});
