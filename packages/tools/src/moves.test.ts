/** A write that names two gates waits for two: which stories make one is a list. */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const API = path.resolve(import.meta.dirname, "../../api/src");
/** A node that goes from one pool to another, or out of one: told to, or reported so. */
const MOVES = ["groups/fleet/assign-node.ts", "groups/fleet/put-nodes.ts"];

it("no story names two gates but those of a node that moves", () => {
  const stories = readdirSync(API, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|^testing\//.test(file))
    .filter((file) => /\bengine\.move\(/.test(readFileSync(path.join(API, file), "utf8")));
  expect(stories.toSorted()).toEqual(MOVES);
});
