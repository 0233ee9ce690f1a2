import { afterEach, describe, expect, it } from "vitest";
import {
  ask,
  inTurn,
  poolId,
  rejection,
  reservationId,
  tenantId,
  unavailable,
  withServer,
} from "../test/berth-on-wire.ts";
import { startWireServer } from "../test/wire-server.ts";
import manifest from "../package.json" with { type: "json" };
import { createBerth } from "./index.ts";
import { API_VERSION } from "./methods.gen.ts";

const env = { ...process.env };
afterEach(() => {
  process.env = { ...env };
});

describe("the environment", () => {
  it("says where the server is and with which key, where the program does not", async () => {
    await using server = await startWireServer(() => ({ data: {} }));
    process.env["BERTH_URL"] = `${server.url}/`;
    process.env["BERTH_TOKEN"] = "from-env";
    await createBerth().access.whoami();
    await createBerth({ token: "given" }).access.whoami();
    await createBerth({ token: "" }).access.whoami();
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer from-env",
      "Bearer given",
      undefined,
    ]);
    process.env["BERTH_URL"] = "http://127.0.0.1:1";
    await createBerth({ url: server.url }).access.whoami();
    expect(server.requests()).toBe(4);
  });

  it("gives its key to a server that the program names: `url` alone says where it goes", async () => {
    await using server = await startWireServer(() => ({ data: {} }));
    process.env["BERTH_URL"] = "http://127.0.0.1:1";
    process.env["BERTH_TOKEN"] = "from-env";
    await createBerth({ url: server.url }).access.whoami();
    await createBerth({ url: server.url, token: "of-that-server" }).access.whoami();
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer from-env",
      "Bearer of-that-server",
    ]);
  });

  it("that says nothing is an error that names it", () => {
    delete process.env["BERTH_URL"];
    expect(() => createBerth()).toThrow("createBerth needs url, or BERTH_URL in the environment");
  });

  it("that may not be read is none", () => {
    const { process } = globalThis;
    const url = "http://x";
    try {
      for (const stand of [undefined, {}, { env: null }, forbidden()]) {
        Object.defineProperty(globalThis, "process", { value: stand, configurable: true });
        expect(() => createBerth({ url })).not.toThrow();
        expect(() => createBerth()).toThrow("createBerth needs url");
      }
    } finally {
      Object.defineProperty(globalThis, "process", { value: process, configurable: true });
    }
  });
});

/** What Deno does without the permission. */
function forbidden(): object {
  return {
    get env(): never {
      throw new Error("NotCapable");
    },
  };
}

describe("options", () => {
  it("that are none are refused in words, which show no key", () => {
    const make = createBerth as unknown as (options: unknown) => unknown;
    expect(() => make(null)).toThrow(
      "createBerth needs options such as { url, token }, or none, not null",
    );
    for (const given of ["http://x", "berth_secret", 5])
      expect(() => make(given), String(given)).toThrow(
        new TypeError(
          `createBerth needs options such as { url, token }, or none, not a ${typeof given}`,
        ),
      );
  });
});

describe("Berth-Client", () => {
  it("names the client, its version, the runtime and the program", async () => {
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        await berth.access.whoami();
        const name = server.arrived[0]?.headers["berth-client"];
        expect(name).toBe(
          `@berth/client/${manifest.version} node/${process.versions.node} trainer/2.0`,
        );
      },
      { appInfo: { name: "trainer", version: "2.0" } },
    );
  });

  it("refuses a program's name that no header should carry", () => {
    for (const name of ["", "a b", "é", "a\r\nx: y", "x".repeat(65)])
      expect(() => createBerth({ url: "http://x", appInfo: { name } }), name).toThrow(
        "createBerth needs name and version of appInfo",
      );
  });
});

describe("the version of the server", () => {
  const [major = 0, minor = 0] = API_VERSION.split(".").map(Number);

  it.each([
    [`${major + 1}.0`, "use the client of the server's version"],
    [`${major}.${minor - 1}`, null],
    [`${major}.${minor + 1}`, null],
    [API_VERSION, null],
    ["nonsense", null],
    ["1e9.0", null],
    ["", null],
  ])("%s is warned of once, and only when it matters", async (version, warned) => {
    const warnings: string[] = [];
    await withServer(
      () => ({ data: {}, headers: version ? { "berth-api-version": version } : {} }),
      async (berth) => {
        await berth.access.whoami();
        await berth.access.whoami();
      },
      { onWarning: (message) => void warnings.push(message) },
    );
    expect(warnings).toHaveLength(warned === null ? 0 : 1);
    if (warned !== null) expect(warnings[0]).toContain(warned);
  });

  it("goes to the console where nobody asks for it", async () => {
    const said: unknown[] = [];
    const { warn } = console;
    try {
      globalThis.console.warn = (...parts: unknown[]) => void said.push(...parts);
      await withServer(
        () => ({ data: {}, headers: { "berth-api-version": "99.0" } }),
        async (berth) => void (await berth.access.whoami()),
      );
    } finally {
      globalThis.console.warn = warn;
    }
    expect(said).toHaveLength(1);
    expect(String(said[0])).toMatch(/^@berth\/client: the server speaks version 99\.0/);
  });
});

describe("an option of one call", () => {
  it("counts before the client's: maxRetries", async () => {
    await withServer(
      inTurn(unavailable),
      async (berth, server) => {
        await rejection(berth.pools.get({ tenantId, poolId }, { maxRetries: 0 }));
        expect(server.requests()).toBe(1);
        await rejection(berth.pools.get({ tenantId, poolId }, { maxRetries: 2 }));
        expect(server.requests()).toBe(4);
      },
      { maxRetries: 1 },
    );
  });
});

describe("call", () => {
  it("calls a method that the client does not know, alone and once unless it is said to read", async () => {
    await withServer(inTurn(unavailable), async (berth, server) => {
      const input = { tenantId, answer: 42 };
      await rejection(berth.call("clusters.make", input));
      expect(server.arrived.map((call) => [call.method, call.input])).toEqual([
        ["clusters.make", input],
      ]);
      await rejection(berth.call("clusters.list", input, { kind: "read", maxRetries: 1 }));
      expect(server.requests()).toBe(3);
      await rejection(berth.call("a.b", {}, { idempotencyKey: "mine", maxRetries: 1 }));
      expect(server.arrived.slice(3).map((call) => call.input)).toEqual([
        { idempotencyKey: "mine" },
        { idempotencyKey: "mine" },
      ]);
    });
    await withServer(
      (call) => ({ data: call.method }),
      async (berth, server) => {
        const reads = ["a.b", "c.d"].map((name) => berth.call(name, {}, { kind: "read" }));
        expect(await Promise.all(reads)).toEqual(["a.b", "c.d"]);
        expect(server.requests()).toBe(1);
        await Promise.all([berth.call("a.b"), berth.call("c.d")]);
        expect(server.requests()).toBe(3);
        expect((await berth.call("a.b").withResponse()).requestId).toBe("req-4");
      },
    );
  });

  it("calls a method that the client knows as it always is: with a key, and again", async () => {
    await withServer(
      inTurn(unavailable, { data: { id: reservationId } }),
      async (berth, server) => {
        expect(await berth.call("reservations.create", ask)).toEqual({ id: reservationId });
        const keys = server.arrived.map(
          (call) => (call.input as { idempotencyKey: string }).idempotencyKey,
        );
        expect(keys).toHaveLength(2);
        expect(keys[0]).toBe(keys[1]);
      },
    );
  });

  it("refuses a stream and what is no name", () => {
    const berth = createBerth({ url: "http://x" });
    expect(() => berth.call("reservations.watch")).toThrow("use berth.reservations.watch");
    for (const name of ["", "pools", "pools.list,pools.get", "../x.y", "a.b/c", "a..b"])
      expect(() => berth.call(name), name).toThrow("call needs the name of a method");
  });
});
