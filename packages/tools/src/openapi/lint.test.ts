/** The linters say nothing of the document as it is, and something of each fault that is planted in it. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { EXCEPTIONS, type LintFinding, lintOpenapi } from "./lint.ts";

type Loose = { [key: string]: unknown };

const TEXT = readFileSync(new URL("../../../contract/openapi.json", import.meta.url), "utf8");

/** What is at the end of the path. */
function at(document: Loose, ...path: readonly string[]): Loose {
  return path.reduce<Loose>((node, step) => node[step] as Loose, document);
}

/** Two operations of the document and all that they refer to: the faults are the same, the time is not. */
function small(): Loose {
  const document = JSON.parse(TEXT) as Loose;
  const kept = [WHOAMI, TIMELINE];
  const paths = Object.entries(at(document, "paths")).filter(([path]) => kept.includes(path));
  return { ...document, paths: Object.fromEntries(paths) };
}

const WHOAMI = "/api/compute/access/whoami";
const TIMELINE = "/api/compute/capacity/timeline";
const timeline = (document: Loose) => at(document, "paths", TIMELINE, "post");
const whoami = (document: Loose) => at(document, "paths", WHOAMI, "post");
const missing = (document: Loose) => at(document, "components", "responses", "Problem404");
const fields = (document: Loose) =>
  at(document, "components", "schemas", "TimelineInput", "properties");
const json = ["content", "application/json"] as const;

/** Each at another place, so that one run of the linters sees all of them. */
const FAULTS: readonly (readonly [rule: string, plant: (document: Loose) => void])[] = [
  ["spectral berth-operation-id", (d) => void (timeline(d)["operationId"] = "capacity_timeline")],
  [
    "spectral berth-problem-json",
    (d) => {
      const media = at(missing(d), "content", "application/problem+json");
      missing(d)["content"] = { "application/json": media };
    },
  ],
  [
    "spectral berth-examples",
    (d) => void delete at(timeline(d), "requestBody", ...json)["examples"],
  ],
  ["spectral berth-headers", (d) => void delete at(missing(d), "headers")["x-should-retry"]],
  ["spectral berth-units", (d) => void (at(fields(d), "from")["description"] = "First instant.")],
  [
    "spectral owasp:api4:2023-array-limit",
    (d) => void (fields(d)["tags"] = { type: "array", items: { type: "boolean" } }),
  ],
  [
    "spectral owasp:api4:2023-string-limit",
    (d) => void (fields(d)["label"] = { type: "string", pattern: "^a*$" }),
  ],
  [
    "spectral owasp:api4:2023-integer-limit",
    (d) => void (fields(d)["count"] = { type: "integer", format: "int32" }),
  ],
  ["spectral operation-description", (d) => void delete timeline(d)["description"]],
  [
    "redocly no-invalid-media-type-examples",
    (d) =>
      void (at(whoami(d), "responses", "200", ...json, "examples", "plain", "value")["name"] = 7),
  ],
  [
    "redocly operation-4xx-response",
    (d) => void (whoami(d)["responses"] = { 200: at(whoami(d), "responses", "200") }),
  ],
];

describe("a fault that is planted", () => {
  let found: readonly LintFinding[];
  beforeAll(async () => {
    const document = small();
    for (const [, plant] of FAULTS) plant(document);
    found = await lintOpenapi(document, EXCEPTIONS);
  });

  it.each(FAULTS)("is found: %s", (rule) => {
    expect(found.map((each) => each.rule)).toContain(rule);
  });
});

it("an exception that nothing needs is a finding", async () => {
  const idle = { rule: "spectral no-such-rule", because: "it was needed once" };
  const found = await lintOpenapi(small(), [...EXCEPTIONS, idle]);
  expect(found.filter(({ rule }) => rule === idle.rule)).toHaveLength(1);
});

it("every exception says why", () => {
  for (const { rule, because } of EXCEPTIONS) expect(because.length, rule).toBeGreaterThan(7);
});

it("the document has no fault", async () => {
  expect(await lintOpenapi(JSON.parse(TEXT) as object)).toEqual([]);
});
