/** `berth doctor --explain`: every check says what it means, why it may be and what to do. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { EXPLANATIONS } from "../../src/doctor/explanations.ts";
import { CHECK_NAMES, explainCheck, render } from "../../src/doctor/run.ts";
import { spawnBerth } from "../harness.ts";

const root = new URL("../../../../", import.meta.url);

it.each(CHECK_NAMES)(
  "%s is explained: meaning, causes, what to do, and a place in a runbook",
  (name) => {
    const explanation = EXPLANATIONS[name];
    expect(explanation.means.length).toBeGreaterThan(60);
    expect(explanation.causes.length).toBeGreaterThan(1);
    expect(explanation.now.length).toBeGreaterThan(1);
    const [page = "", anchor = ""] = explanation.runbook.split("#");
    expect(readFileSync(new URL(page, root), "utf8")).toContain(`<a id="${anchor}"></a>`);
  },
);

it("explains no check that there is not", () => {
  expect(Object.keys(EXPLANATIONS).toSorted()).toEqual(CHECK_NAMES.toSorted());
});

it("stands under what does not hold, and under nothing else", () => {
  const found = {
    invariant: "I3" as const,
    ids: ["pool_1"],
    message: "pool_1 gpu: stored 1, counted 2",
  };
  const findings = [
    { invariant: "I1" as const, title: "no unit is booked twice", violations: [] },
    { invariant: "I3" as const, title: "stored capacity equals a recount", violations: [found] },
  ];
  const plain = render({ healthy: false, findings });
  expect(plain).not.toContain("What it means");
  const text = render({ healthy: false, findings }, { explain: true });
  expect(text.indexOf(found.message)).toBeLessThan(text.indexOf("What it means"));
  expect(text).toContain("berth rebuild POOL");
  expect(text).not.toContain(EXPLANATIONS.I1.means);
});

it("of one check needs no database, and an unknown one is named beside those that there are", async () => {
  const one = spawnBerth(["doctor", "--explain", "i3"], {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
  });
  expect((await one.ended).code).toBe(0);
  expect(one.stdout().trim()).toBe(explainCheck("I3"));
  const other = spawnBerth(["doctor", "--explain", "I99"]);
  expect((await other.ended).code).toBe(2);
  expect(other.stderr()).toContain(`no check I99; there are ${CHECK_NAMES.join(", ")}`);
});
