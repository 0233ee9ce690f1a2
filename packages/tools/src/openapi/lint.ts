/** Spectral (OpenAPI and OWASP rules, and ours) and Redocly over an OpenAPI document. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { oas } from "@stoplight/spectral-rulesets";
import { HOUSE_RULES } from "./house-rules.ts";

export interface LintFinding {
  /** `spectral` or `redocly` and the rule's own name. */
  readonly rule: string;
  /** As a JSON Pointer. */
  readonly at: string;
  readonly message: string;
}

interface Exception {
  readonly rule: string;
  /** Only there; absent: everywhere. */
  readonly at?: RegExp;
  readonly because: string;
}

const BESIDE = /^\/components\/schemas\/(?:WatchInput|WireError)$/;
const EVENT_DATA = /^\/components\/schemas\/\w+EventData$/;

/** What is left out, and why. One that is of no use any more is a finding itself. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    rule: "spectral info-contact",
    because: "others run this server: no one person or address stands behind every copy",
  },
  {
    rule: "spectral license-url",
    because:
      "OpenAPI 3.1 takes the SPDX identifier or the URL and not both, and the identifier is there",
  },
  {
    rule: "spectral openapi-tags-alphabetical",
    because: "the groups stand in the order in which somebody new reads them",
  },
  {
    rule: "spectral owasp:api8:2023-define-cors-origin",
    because:
      "no other origin may read an answer, so that there is no such header to name; a test holds that",
  },
  {
    rule: "spectral owasp:api9:2023-inventory-environment",
    because: "which environment it is in is known to whoever runs the server, not to the program",
  },
  {
    rule: "spectral owasp:api4:2023-string-restricted",
    at: /\/text~1event-stream\//,
    because: "frames of a stream are no single text",
  },
  {
    rule: "spectral oas3-unused-component",
    at: EVENT_DATA,
    because:
      "what an event's data says goes by its type; older events need not fit, so Event does not refer to it",
  },
  { rule: "redocly no-unused-components", at: EVENT_DATA, because: "the same" },
  {
    rule: "spectral oas3-unused-component",
    at: BESIDE,
    because:
      "a stream's input stands in its query, and what tRPC says of an error is told for tRPC's callers",
  },
  { rule: "redocly no-unused-components", at: BESIDE, because: "the same" },
  {
    rule: "spectral oas3-schema",
    at: /^\/externalDocs\/url$/,
    because:
      "the server has these pages itself, wherever it is: relative to it, as the address in `servers`",
  },
];

/**
 * Redocly's `no-invalid-media-type-examples` does the same, with each schema compiled once: 20 s less. A test
 * holds every example against the schemas, too.
 */
const SWITCHED_OFF = { "oas3-valid-media-example": "off" } as const;

const pointer = (path: readonly (string | number)[]) =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

type Ruleset = Parameters<Spectral["setRuleset"]>[0];

async function spectral(document: object): Promise<LintFinding[]> {
  const linter = new Spectral();
  // Their packages describe one and the same thing in types that differ.
  linter.setRuleset({
    extends: [
      [oas, "all"],
      [owasp, "all"],
    ],
    rules: { ...HOUSE_RULES, ...SWITCHED_OFF },
  } as unknown as Ruleset);
  const results = await linter.run(document as Record<string, unknown>);
  return results.map(({ code, path, message }) => ({
    rule: `spectral ${code}`,
    at: pointer(path),
    message,
  }));
}

async function redocly(document: object): Promise<LintFinding[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const source = JSON.stringify(document);
  const results = await lintFromString({ source, absoluteRef: "/openapi.json", config });
  return results.map(({ ruleId, location, message }) => ({
    rule: `redocly ${ruleId}`,
    at: (location[0]?.pointer ?? "").replace(/^#/, ""),
    message,
  }));
}

/** What is wrong with it; exceptions of no use are told of, too. */
export async function lintOpenapi(
  document: object,
  exceptions: readonly Exception[] = EXCEPTIONS,
): Promise<LintFinding[]> {
  const all = [...(await spectral(document)), ...(await redocly(document))];
  const used = new Set<Exception>();
  const found = all.filter(({ rule, at }) => {
    const exception = exceptions.find((each) => each.rule === rule && (each.at?.test(at) ?? true));
    if (exception) used.add(exception);
    return exception === undefined;
  });
  const idle = exceptions.filter((each) => !used.has(each));
  return [
    ...found,
    ...idle.map(({ rule }) => ({
      rule,
      at: "",
      message: "an exception that nothing needs: remove it from packages/tools/src/openapi/lint.ts",
    })),
  ];
}
