/** Examples in the OpenAPI document: the contract's, where each operation has its input, answer and errors. */
import { type ErrorCode, errors } from "@berth/contract";
import { ERROR_EXAMPLES, EXAMPLES } from "@berth/contract/examples";
import type { MethodSchema } from "./wire-schema.ts";

interface Shown {
  readonly summary: string;
  readonly value: unknown;
}
type Fields = Readonly<Record<string, unknown>>;

/** By their place: `plain`, then `second` and so on. */
const NAMES = ["plain", "second", "third", "fourth"];
const told = ({ name }: MethodSchema) =>
  EXAMPLES[name].map((example, at) => [NAMES[at] ?? `example${at + 1}`, example] as const);

/** Of the body, without the fields that stand elsewhere. */
export function inputExamples(
  method: MethodSchema,
  elsewhere: readonly string[] = [],
): Record<string, Shown> {
  return Object.fromEntries(
    told(method).map(([name, { summary, input }]) => {
      const rest = Object.entries(input).filter(([field]) => !elsewhere.includes(field));
      return [name, { summary, value: Object.fromEntries(rest) }];
    }),
  );
}

export function outputExamples(method: MethodSchema): Record<string, Shown> {
  return Object.fromEntries(
    told(method).map(([name, { summary, output }]) => [name, { summary, value: output }]),
  );
}

/** What a parameter is in the plainest example that names it; undefined when none does. */
export function parameterExample(method: MethodSchema, field: string): unknown {
  const inputs = EXAMPLES[method.name].map(({ input }) => input as Fields);
  return inputs.find((input) => input[field] !== undefined)?.[field];
}

/** A frame of the stream, as it comes over the line. */
export function frameExample(method: MethodSchema): string {
  const [{ output }] = EXAMPLES[method.name];
  const { cursor, type } = output as { cursor: string; type: string };
  return `id: ${cursor}\nevent: ${type}\ndata: ${JSON.stringify(output)}\n\n`;
}

/** Every kind of error that has this status. */
export function problemExamples(status: number): Record<string, Shown> {
  return Object.fromEntries(
    Object.entries(ERROR_EXAMPLES).filter(
      ([name, { value }]) =>
        errors[value.code as ErrorCode].http === status && value.type.endsWith(`/${name}`),
    ),
  );
}
