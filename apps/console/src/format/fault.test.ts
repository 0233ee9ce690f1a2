import { BerthError } from "@berth/client";
import type { Issue } from "@berth/client";
import { expect, it } from "vitest";
import { faultText, faultsAt, isNoId } from "./fault.ts";

const refused = (...issues: readonly Issue[]) =>
  new BerthError({
    code: "INVALID_INPUT",
    message: issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; "),
    retryable: false,
    requestId: null,
    issues,
    details: null,
  });
const issue = (path: Issue["path"], message: string): Issue => ({ path, message });

it.each([
  [
    issue(["alternatives", 0, "start"], "the start is over a minute in the past"),
    "The start is over a minute in the past.",
  ],
  [issue(["end"], "must be at most 140737488355328"), "The end is too far ahead."],
  [
    issue(["end"], "a booking of this pool lasts at most 366 d in all"),
    "A booking of this pool lasts at most 366 d in all.",
  ],
  [
    issue(["gpuModel"], "must have at most 32 characters"),
    "The GPU model must have at most 32 characters.",
  ],
  [issue(["alternatives", 3, "gadget"], "must be a word"), "Must be a word."],
])("a refusal of %o has no path", (one, words) => {
  expect(faultText(refused(one))).toBe(words);
});

it("of a file of nodes it says where in it", () => {
  expect(faultText(refused(issue(["nodes", 3, "gpus", 0, "uuid"], "must be a text")))).toBe(
    "nodes[3].gpus[0].uuid: must be a text",
  );
});

it("what is refused of a field of the form is said at it", () => {
  const error = refused(issue(["gpuModel"], "must have at most 32 characters"), issue(["x"], "no"));
  expect(faultsAt(error, ["gpuModel"])).toEqual({ gpuModel: "Must have at most 32 characters." });
  expect(faultsAt(new Error("no"), ["gpuModel"])).toEqual({});
});

it("a malformed id of the address is no id, and nothing else is", () => {
  expect(isNoId(refused(issue(["poolId"], "must be pool_ and more")), "poolId")).toBe(true);
  expect(isNoId(refused(issue(["tenantId"], "must be a name")), "poolId")).toBe(false);
});

it("no method of the client is named to people", () => {
  const late = new BerthError({
    code: "TIMEOUT",
    message: "reservations.create took longer than 20000 ms",
    retryable: true,
    requestId: null,
    issues: null,
    details: null,
  });
  expect(faultText(late)).not.toMatch(/reservations|ms/);
});
