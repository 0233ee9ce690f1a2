/** Whether an answer is what the case has to come to. */
import { byRules } from "./beyond.ts";
import type { Answer } from "./caller.ts";
import type { Case } from "./cases.ts";

export function wrongs({ expected, path, operation }: Case, answer: Answer): string[] {
  const { error } = answer;
  const code = error?.code ?? "OK";
  switch (expected) {
    case "allowed":
      return code === "INVALID_INPUT" &&
        !byRules(operation.method, error?.issues ?? [{ path: [], message: "" }])
        ? [`the document allows it: ${error?.message}`]
        : [];
    case "too-large":
      return code === "TOO_LARGE" ? [] : [`${code}, though it is too large`];
    case "not-json":
      return code === "INVALID_INPUT" && error?.issues === null
        ? []
        : [`${code}, though it is no JSON`];
    case "refused":
      if (code !== "INVALID_INPUT")
        return [`${code}, though the document forbids ${pathText(path)}`];
      return error?.issues?.some((issue) => meets(issue.path, path)) === true
        ? []
        : [`no issue names ${pathText(path)}: ${JSON.stringify(error?.issues)}`];
  }
}

const pathText = (path: readonly unknown[]): string => JSON.stringify(path);

/** One of them leads to the other: a part of a choice is told of the whole, a list of its entry. */
function meets(issue: readonly (string | number)[], path: readonly (string | number)[]): boolean {
  return issue.slice(0, path.length).every((step, at) => step === path[at]);
}
