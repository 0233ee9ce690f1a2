import { NODE_CAUSES, POOL_CAUSES } from "@berth/domain";
import { expect, it } from "vitest";
import { ERROR_CODES, ERROR_KINDS, errorKindOf, errorMarkdown } from "./index.ts";

it("every code, every kind of conflict and every cause has a page of its own, under a name for an address", () => {
  const slug = (text: string) => text.toLowerCase().replaceAll("_", "-");
  expect([...ERROR_KINDS.keys()].toSorted()).toEqual(
    [
      ...ERROR_CODES.map(slug),
      ...["key", "version", "overlap", "plan"].map((kind) => `conflict-${kind}`),
      ...[...NODE_CAUSES, ...POOL_CAUSES].map((cause) => `no-capacity-${slug(cause)}`),
    ].toSorted(),
  );
  for (const name of ERROR_KINDS.keys()) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
});

it("no two kinds have one title, and each says what to do", () => {
  const kinds = [...ERROR_KINDS.values()];
  expect(new Set(kinds.map(({ title }) => title)).size).toBe(kinds.length);
  for (const { code, title, meaning, steps } of kinds) {
    expect(title, code).not.toMatch(/\.$/);
    expect(meaning, code).toMatch(/[.)]$/);
    expect(steps.length, code).toBeGreaterThan(0);
    for (const step of steps) expect(step, code).toMatch(/\.$/);
  }
});

it.each([
  ["NOT_FOUND", null, "not-found"],
  ["CONFLICT", { kind: "version", ids: null, plan: null }, "conflict-version"],
  ["NO_CAPACITY", { reason: { code: "TOPOLOGY_KEY" } }, "no-capacity-topology-key"],
  ["NO_CAPACITY", { reason: { code: "INVENTED" } }, "no-capacity"],
  ["NO_CAPACITY", null, "no-capacity"],
] as const)("an error %s with %j is of the kind %3$s", (code, details, kind) => {
  expect(errorKindOf(code, details)).toBe(kind);
});

it("a page links to the reasons of its code, and no other", () => {
  const kind = ERROR_KINDS.get("conflict");
  if (!kind) throw new Error("there is no page of CONFLICT");
  const text = errorMarkdown(kind, null, (name) => `${name}.md`);
  expect(text.match(/\]\(([^)]+)\)/g)).toEqual([
    "](conflict-key.md)",
    "](conflict-version.md)",
    "](conflict-overlap.md)",
    "](conflict-plan.md)",
  ]);
});
