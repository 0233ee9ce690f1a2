/** What a language model reads first of the packed client (packages/client/llms.txt): where what is said, and every method. */
import { catalog, groups } from "@berth/contract";
import type { GroupName } from "@berth/contract";
import type { Generated } from "./generate.ts";
import type { MethodSchema, Wire } from "./wire-schema.ts";

const HEAD = [
  "# @berth/client",
  "",
  "> Typed TypeScript client of Berth, which books GPUs: exact units, a time axis, tenants with quota. Node 20+, browsers,",
  "> Bun, Deno, edge. ES modules. The declarations hold every method and field with its unit and rule.",
  "",
  "- [README.md](README.md): options, shapes, holds, answers, lists, retries, errors, events, hooks, React, testing",
  "- [skills/berth/SKILL.md](skills/berth/SKILL.md): how to write programs with it, for agents",
  "- [dist/api.gen.d.ts](dist/api.gen.d.ts): every method, input and output, generated from the API's contract",
  "- [dist/errors.d.ts](dist/errors.d.ts): the error's codes and fields",
  "- [dist/hold.d.ts](dist/hold.d.ts): what a hold promises",
  "",
  "## Entries",
  "",
  "- `@berth/client`: createBerth, gpus, nodes, isBerthError, BerthError",
  "- `@berth/client/react`: createBerthQueries, for TanStack Query 5",
  "- `@berth/client/otel`: otelHooks, for OpenTelemetry",
  "- `@berth/client/testing`: withBerth, a real server for tests",
  "",
  "## Methods",
  "",
];

export function generateLlms(wire: Wire): Generated {
  const sections = (Object.keys(groups) as GroupName[]).map((group) => {
    const methods = wire.methods.filter((method) => method.group === group);
    return [`### ${group}`, "", groups[group], "", ...methods.map(line)].join("\n");
  });
  const text = [HEAD.join("\n"), sections.join("\n\n")].join("\n");
  return { path: "packages/client/llms.txt", text: `${text}\n` };
}

function line({ name, input, inputOptional, output }: MethodSchema): string {
  const { kind, summary } = catalog[name];
  const asked = inputOptional ? "" : input;
  const answer = kind === "subscription" ? `a stream of ${output}` : output;
  return `- \`berth.${name}(${asked})\` → ${answer}: ${summary}`;
}
