import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
}

const read = (file: string): Manifest =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as Manifest;

/** The oldest major that a range takes: the lowest number that stands in it. */
const oldest = (range: string | undefined): number =>
  Math.min(
    ...[...(range ?? "0").matchAll(/(?<![.\d])(\d+)(?:\.\d+)*/g)].map(([, major]) => Number(major)),
  );

it("what the package depends on runs on every Node that the package says it runs on", () => {
  const own = read("../package.json");
  const names = Object.keys(own.dependencies ?? {});
  expect(names).toContain("eventsource-parser");
  for (const name of names) {
    const { engines } = read(`../node_modules/${name}/package.json`);
    expect([name, oldest(engines?.node) <= oldest(own.engines?.node)]).toEqual([name, true]);
  }
});
