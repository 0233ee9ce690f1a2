/**
 * Holds an OpenAPI document against an older one: what worked for callers of the old one must go on working. New
 * paths, methods, fields, values and answers are no break.
 */
import { type Break, type Lookup, type Schema, schemaBreaks } from "./breaking-schema.ts";

export type { Break } from "./breaking-schema.ts";

interface Media {
  readonly schema?: Schema;
}
type Content = Readonly<Record<string, Media>>;
interface Ref {
  readonly $ref?: string;
}
interface Parameter extends Ref {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}
interface Response extends Ref {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}
interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses?: Readonly<Record<string, Response>>;
}
export interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Both<T> {
  readonly before: T;
  readonly after: T;
}
interface Lookups {
  readonly before: Lookup;
  readonly after: Lookup;
}

/** Everything in `after` that breaks callers of `before`. */
export function breakingChanges(before: Document, after: Document): Break[] {
  const documents = { before, after };
  return Object.entries(before.paths ?? {}).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, operation]) => {
      const at = `${verb.toUpperCase()} ${path}`;
      const now = after.paths?.[path]?.[verb];
      if (now === undefined) return [{ at, what: "the operation is gone" }];
      return operationBreaks({ before: operation, after: now }, at, documents);
    }),
  );
}

function operationBreaks(pair: Both<Operation>, at: string, documents: Both<Document>): Break[] {
  const { before, after } = pair;
  const renamed = before.operationId !== after.operationId;
  return [
    ...(renamed ? [{ at, what: `its operationId was ${before.operationId ?? "none"}` }] : []),
    ...parameterBreaks(pair, at, documents),
    ...bodyBreaks(pair, at, lookupsOf(documents)),
    ...responseBreaks(pair, at, documents),
  ];
}

function parameterBreaks(pair: Both<Operation>, at: string, documents: Both<Document>): Break[] {
  const named = (side: "before" | "after") =>
    new Map(
      (pair[side].parameters ?? [])
        .map((each) => solid(documents[side], each))
        .map((each) => [`${each.in} ${each.name}`, each] as const),
    );
  const [was, is] = [named("before"), named("after")];
  const found: Break[] = [];
  for (const [name, { required = false }] of is)
    if (required && was.get(name)?.required !== true)
      found.push({ at: `${at}: the ${name}`, what: "must be given now" });
  for (const [name, { schema = {} }] of was) {
    const where = `${at}: the ${name}`;
    const now = is.get(name);
    if (now === undefined) found.push({ at: where, what: "the parameter is gone" });
    else
      found.push(
        ...schemaBreaks({ before: schema, after: now.schema ?? {} }, where, {
          ...lookupsOf(documents),
          direction: "input",
        }),
      );
  }
  return found;
}

function bodyBreaks({ before, after }: Both<Operation>, at: string, lookups: Lookups): Break[] {
  const [was, is] = [before.requestBody, after.requestBody];
  const where = `${at}: the request's `;
  const required = is?.required === true && was?.required !== true;
  return [
    ...(required ? [{ at, what: "a body must be given now" }] : []),
    ...contentBreaks({ before: was?.content, after: is?.content }, where, {
      ...lookups,
      direction: "input",
    }),
  ];
}

function responseBreaks(pair: Both<Operation>, at: string, documents: Both<Document>): Break[] {
  return Object.entries(pair.before.responses ?? {}).flatMap(([status, response]) => {
    const where = `${at}: the ${status}'s `;
    const given = pair.after.responses?.[status];
    if (given === undefined) return [{ at: `${at}: the ${status}`, what: "the answer is gone" }];
    const [was, is] = [solid(documents.before, response), solid(documents.after, given)];
    const headers = Object.keys(was.headers ?? {}).filter(
      (name) => is.headers?.[name] === undefined,
    );
    return [
      ...headers.map((name) => ({ at: `${where}${name}`, what: "the header is gone" })),
      ...contentBreaks({ before: was.content, after: is.content }, where, {
        ...lookupsOf(documents),
        direction: "output",
      }),
    ];
  });
}

function contentBreaks(
  { before = {}, after = {} }: { before: Content | undefined; after: Content | undefined },
  at: string,
  context: Lookups & { readonly direction: "input" | "output" },
): Break[] {
  return Object.entries(before).flatMap(([type, { schema = {} }]) => {
    const now = after[type];
    if (now === undefined) return [{ at: `${at}${type}`, what: "the media type is gone" }];
    return schemaBreaks({ before: schema, after: now.schema ?? {} }, at, context);
  });
}

function lookupsOf({ before, after }: Both<Document>): Lookups {
  const lookup =
    (document: Document): Lookup =>
    (ref) =>
      solid<Schema>(document, { $ref: ref });
  return { before: lookup(before), after: lookup(after) };
}

/** What a reference stands for. */
function solid<T extends Ref>(document: Document, value: T | Ref): T {
  if (value.$ref === undefined) return value as T;
  const [, , kind = "", name = ""] = value.$ref.split("/");
  const target = document.components?.[kind]?.[name];
  if (target === undefined)
    throw new Error(`the document refers to ${value.$ref}, which is not in it`);
  return solid<T>(document, target as T | Ref);
}
