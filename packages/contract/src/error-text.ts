/** A kind of error as the documentation prints it: the same Markdown on the server and in the docs. */
import { ERROR_KINDS, type ErrorKind } from "./error-kinds.ts";
import { errors } from "./errors.ts";

const ACTORS = {
  caller: "whoever calls",
  "tenant-admin": "an administrator of the tenant",
  operator: "the operator of the server",
  nobody: "nobody: it passes",
} as const;

/** What a program wants to know of a kind, as pairs of a name and a value. */
export function errorFacts({ code, reason }: ErrorKind): readonly (readonly [string, string])[] {
  const { http, trpc, retryable, whoActs } = errors[code];
  return [
    ["Code", `\`${code}\``],
    ...(reason === null ? [] : ([[reasonField(code), `\`${reason}\``]] as const)),
    ["HTTP status", String(http)],
    ["tRPC code", `\`${trpc}\``],
    ["Send the same again", retryable ? "yes, after `Retry-After`" : "no"],
    ["Who acts", ACTORS[whoActs]],
  ];
}

const reasonField = (code: ErrorKind["code"]) =>
  code === "CONFLICT" ? "`details.kind`" : "`details.reason.code`";

/** Names of the kinds that are reasons of this code. */
export function reasonsOf({ code, reason }: ErrorKind): string[] {
  if (reason !== null) return [];
  return [...ERROR_KINDS].flatMap(([name, kind]) =>
    kind.code === code && kind.reason !== null ? [name] : [],
  );
}

/**
 * @param example an answer of the kind as JSON, or null
 * @param address the address of another kind's page
 */
export function errorMarkdown(
  kind: ErrorKind,
  example: string | null,
  address: (name: string) => string,
): string {
  const rows = errorFacts(kind).map(([name, value]) => `| ${name} | ${value} |`);
  const reasons = reasonsOf(kind).map((name) => `- ${link(name, address)}`);
  return `${[
    `# ${kind.title}`,
    kind.meaning,
    ["| | |", "| --- | --- |", ...rows].join("\n"),
    "## What to do",
    kind.steps.map((step) => `- ${step}`).join("\n"),
    ...(reasons.length > 0 ? ["## Reasons", reasons.join("\n")] : []),
    ...(example === null ? [] : ["## As it comes", `\`\`\`json\n${example}\n\`\`\``]),
  ].join("\n\n")}\n`;
}

const link = (name: string, address: (name: string) => string) =>
  `[${ERROR_KINDS.get(name)?.title ?? name}](${address(name)})`;

/** The list of all kinds. */
export function errorIndexMarkdown(address: (name: string) => string): string {
  const rows = [...ERROR_KINDS].map(([name, { code, reason }]) => {
    const { http, retryable } = errors[code];
    const named = reason === null ? `\`${code}\`` : `\`${code}\` \`${reason}\``;
    return `| ${link(name, address)} | ${named} | ${http} | ${retryable ? "yes" : "no"} |`;
  });
  return `${[
    "# Errors",
    "Over HTTP an error is `application/problem+json` (RFC 9457), and its `type` is the address of one of these pages. Over " +
      "tRPC the same fields are in `error.data.berth`. Codes are for good: none is ever renamed or given another meaning. " +
      "Every error says in `retryable`, and in the header `x-should-retry`, whether the same call may succeed later: go by " +
      "that and not by the status, for several clients send a 409 again of their own accord.",
    ["| Error | Code | HTTP | Send again |", "| --- | --- | --- | --- |", ...rows].join("\n"),
  ].join("\n\n")}\n`;
}
