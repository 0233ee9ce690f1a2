/** Parsing an input, and telling a person what is wrong with it: one issue a field, never the value. */
import type { z } from "zod";
import { LIMITS } from "./common.ts";
import { schemasOf } from "./contract.ts";
import type { Input, MethodName } from "./contract.ts";

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly InputIssue[] };

/** Issues beyond this many say nothing new, and the answer stays small. */
export const ISSUES_MAX = 50;

/** Parses what a caller sent to a method. Total: never throws. */
export function parseInput<M extends MethodName>(method: M, raw: unknown): Parsed<Input<M>> {
  const result = schemasOf(method).input.safeParse(raw);
  if (!result.success) return { ok: false, issues: inputIssues(result.error) };
  // The schema of M makes an Input<M>; looking it up by name loses that.
  return { ok: true, value: result.data as Input<M> };
}

/** Zod's issues as ours: an unknown field is named in the path, each text says what to give. */
export function inputIssues(error: z.ZodError): InputIssue[] {
  return error.issues.flatMap(explain).slice(0, ISSUES_MAX);
}

function explain(issue: z.core.$ZodIssue): InputIssue[] {
  const path = issue.path.map((part) => (typeof part === "number" ? part : shown(String(part))));
  if (issue.code !== "unrecognized_keys") return [{ path, message: sentence(issue) }];
  return issue.keys.slice(0, ISSUES_MAX).map((key) => ({
    path: [...path, shown(key)],
    message: "is not a field of this request",
  }));
}

/** A name that a caller made up, as an answer may repeat it: in whole characters, and none that a terminal obeys. */
function shown(name: string): string {
  const start = Array.from(name.slice(0, 2 * LIMITS.nameLength))
    .slice(0, LIMITS.nameLength)
    .join("");
  return start.toWellFormed().replaceAll(/\p{Cc}/gu, "\ufffd");
}

function sentence(issue: Exclude<z.core.$ZodIssue, { code: "unrecognized_keys" }>): string {
  const missing = issue.message.endsWith("received undefined");
  // The schema says it itself.
  if (issue.message.startsWith("must ")) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      if (missing) return "is missing";
      return `must be ${withArticle(issue.expected === "int" ? "integer" : issue.expected)}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must ${bound(issue.origin, "least", issue.minimum)}`;
    case "too_big":
      return `must ${bound(issue.origin, "most", issue.maximum)}`;
    case "invalid_key":
      return `is not a key to use here: ${issue.issues[0] ? sentence(issue.issues[0] as never) : ""}`;
    case "invalid_union":
      return issue.message;
    default:
      return issue.message;
  }
}

function bound(origin: string, side: "least" | "most", value: number | bigint): string {
  if (origin === "string") return `have at ${side} ${value} characters`;
  if (origin === "array") return `have at ${side} ${value} ${value === 1 ? "entry" : "entries"}`;
  return `be at ${side} ${value}`;
}

function withArticle(noun: string): string {
  if (noun === "record") return "an object";
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
