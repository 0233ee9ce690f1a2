/** What a call failed of, in the words of the page: no field of the API's, no name of a method. Pure. */
import { isBerthError } from "@berth/client";
import type { Issue } from "@berth/client";

/** What the page calls a field of the API; others are not named, and what is said of them is. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  start: "The start",
  startsAt: "The start",
  from: "The start",
  end: "The end",
  endsAt: "The end",
  to: "The end",
  duration: "The length",
  count: "The number",
  size: "The number of nodes",
  gang: "The number of nodes",
  gpuModel: "The GPU model",
  providerAccountId: "The provider account",
  ownerQuota: "The own quota",
  quota: "The quota",
  leaseSeconds: "The lease",
  projectId: "The project tag",
  profileId: "The node profile",
  reason: "The reason",
  contractRef: "The contract",
  allowedOrgIds: "The tenants",
  managingOrgIds: "The managing tenants",
};

/** The client's own words name its methods. */
const LATE = "No answer came; try again.";

/** Instants of more digits are past every calendar. */
const NO_INSTANT = /must be at most \d{13,}/;

/** Nodes come from a file of the person's: there the path is what they look for. */
const OF_FILES = "nodes";

/** One fault: what is wrong, and of what, where the page has a name for it. */
export function issueText({ message, path }: Pick<Issue, "message" | "path">): string {
  const place = placeInFile(path);
  if (place !== null) return `${place}: ${message}`;
  const name = nameOf(path);
  if (NO_INSTANT.test(message)) return `${name ?? "The time"} is too far ahead.`;
  if (name === null) return sentence(message);
  // A rule is said of its field; what is a sentence of its own says itself what it is about.
  return /^must\b/.test(message) ? sentence(`${name} ${message}`) : sentence(message);
}

/** What failed, for people: faults of fields without their paths. Of several the first. */
export function faultText(error: unknown): string {
  if (!isBerthError(error))
    return error instanceof Error ? error.message : "Something failed that says nothing of itself.";
  const [issue] = error.issues ?? [];
  if (issue !== undefined) return issueText(issue);
  return error.code === "TIMEOUT" ? LATE : error.message;
}

/** What the server refused of these fields, by field: it is said there. */
export function faultsAt(
  error: unknown,
  fields: readonly string[],
): Readonly<Record<string, string>> {
  const issues = isBerthError(error) ? (error.issues ?? []) : [];
  return Object.fromEntries(
    issues.flatMap(({ message, path }) => {
      const [field] = path;
      return typeof field === "string" && fields.includes(field)
        ? [[field, sentence(message)]]
        : [];
    }),
  );
}

/** Whether an id of the address is none at all: there is no such thing, and trying again is of no use. */
export function isNoId(error: unknown, field: string): boolean {
  return (
    isBerthError(error, "INVALID_INPUT") &&
    error.issues?.some(({ path }) => path[0] === field) === true
  );
}

function nameOf(path: Issue["path"]): string | null {
  const known = path.filter((part) => typeof part === "string" && part in FIELD_NAMES).at(-1);
  return known === undefined ? null : (FIELD_NAMES[known] ?? null);
}

/** `nodes[3].gpus[0].uuid`; null: it is of no file. */
export function placeInFile(path: Issue["path"]): string | null {
  if (path[0] !== OF_FILES) return null;
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

function sentence(text: string): string {
  const whole = text.trim();
  const end = /[.!?…]$/.test(whole) ? "" : ".";
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${end}`;
}
