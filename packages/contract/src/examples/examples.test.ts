/** Every example is what its method takes or answers, and every kind of error has one. */
import { describe, expect, it } from "vitest";
import { ERROR_KINDS, METHOD_NAMES, catalog, eventData, problem, schemasOf } from "../index.ts";
import { ERROR_EXAMPLES, EXAMPLES } from "./index.ts";

describe("the examples", () => {
  it.each(METHOD_NAMES)("of %s are what it takes and what it answers", (method) => {
    for (const { summary, input, output } of EXAMPLES[method]) {
      const taken = schemasOf(method).input.safeParse(input);
      expect(taken.error?.issues ?? [], `${method}: ${summary}`).toEqual([]);
      const answered = schemasOf(method).output.safeParse(output);
      expect(answered.error?.issues ?? [], `${method}: ${summary}`).toEqual([]);
      // Fields that a schema does not know would be gone.
      expect(answered.data, `${method}: ${summary}`).toEqual(output);
    }
  });

  it("say of an event what its type says", () => {
    const [{ output }] = EXAMPLES["reservations.watch"];
    expect(eventData[output.type].safeParse(output.data).error?.issues ?? []).toEqual([]);
  });

  it("of mutations with a key name one, as a caller without the typed client has to", () => {
    const keyless = METHOD_NAMES.filter((method) => catalog[method].kind === "mutation")
      .flatMap((method) => EXAMPLES[method].map(({ input }) => ({ method, input })))
      .filter(({ method }) => {
        const { input } = schemasOf(method);
        return "shape" in input && Object.hasOwn(input.shape as object, "idempotencyKey");
      })
      .filter(({ input }) => !("idempotencyKey" in input));
    expect(keyless).toEqual([]);
  });

  it("of errors are problems, one a kind", () => {
    expect(Object.keys(ERROR_EXAMPLES)).toEqual([...ERROR_KINDS.keys()]);
    for (const [name, { value }] of Object.entries(ERROR_EXAMPLES)) {
      const read = problem.safeParse(value);
      expect(read.error?.issues ?? [], name).toEqual([]);
      expect(read.data, name).toEqual(value);
    }
  });
});
