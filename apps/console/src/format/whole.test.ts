import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { BOUNDS, wholeRefusal } from "./whole.ts";

const DOCUMENT = path.resolve(import.meta.dirname, "../../../../packages/contract/openapi.json");

interface Range {
  readonly minimum: number;
  readonly maximum: number;
}
interface Schema {
  readonly properties: Readonly<Record<string, Range>>;
  readonly additionalProperties: Range;
}

describe("a whole number in a field", () => {
  it("is held to the bounds of the contract", () => {
    const { components } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as {
      components: { schemas: Readonly<Record<string, Schema>> };
    };
    const { schemas } = components;
    const of = (schema: string, field: string) => schemas[schema]?.properties[field];
    const contract: Readonly<Record<keyof typeof BOUNDS, Range | undefined>> = {
      quota: schemas["QuotaMap"]?.additionalProperties,
      priority: of("OfferPoolInput", "priority"),
      vcpu: of("NodeInput", "vcpu"),
      memoryGiB: of("NodeInput", "memoryGiB"),
      noticeSeconds: of("SpotPolicy", "noticeSeconds"),
      replicas: of("SharingPolicy", "replicas"),
      hugepages: of("Hugepages", "size1Gi"),
    };
    for (const [field, { least, most }] of Object.entries(BOUNDS))
      expect(contract[field as keyof typeof BOUNDS], field).toMatchObject({
        minimum: least,
        maximum: most,
      });
  });

  it.each(["0", "2147483647", " 16 ", ""])("%j is taken", (text) =>
    expect(wholeRefusal(text, BOUNDS.quota)).toBeNull(),
  );

  it.each(["2147483648", "99999999999999999999", "-1", "1.5", "1e400", "many"])(
    "%j is not, and the bounds are said",
    (text) =>
      expect(wholeRefusal(text, BOUNDS.quota)).toBe("A whole number from 0 to 2,147,483,647."),
  );
});
