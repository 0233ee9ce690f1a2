/** One document, one change of each kind, and whether callers of the old one are told to break. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Document, breakingChanges } from "./breaking.ts";

type Json = Record<string, never> & Record<string, unknown>;

const base = () => ({
  paths: {
    "/book": {
      post: {
        operationId: "book.create",
        parameters: [
          {
            name: "If-Match",
            in: "header",
            required: false,
            schema: { type: "string", maxLength: 32 },
          },
          { $ref: "#/components/parameters/Key" },
        ],
        requestBody: {
          required: false,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Ask" } } },
        },
        responses: {
          200: {
            headers: { "x-request-id": { schema: { type: "string" } } },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Booking" } } },
          },
          409: { $ref: "#/components/responses/Conflict" },
        },
      },
    },
    "/free": { get: { operationId: "free.list", responses: { 200: {} } } },
  },
  components: {
    parameters: { Key: { name: "Key", in: "header", required: false, schema: { type: "string" } } },
    responses: {
      Conflict: { content: { "application/problem+json": { schema: { type: "object" } } } },
    },
    schemas: {
      Ask: {
        type: "object",
        additionalProperties: false,
        required: ["count"],
        properties: {
          count: { type: "integer", minimum: 1, maximum: 64 },
          class: { type: "string", enum: ["gpu", "nic"] },
          label: { type: "string", minLength: 0, maxLength: 10, pattern: "^[a-z]*$" },
          units: {
            type: "array",
            items: { type: "string", maxLength: 9 },
            maxItems: 8,
            minItems: 0,
          },
          quota: {
            type: "object",
            additionalProperties: { type: "integer", maximum: 9 },
            maxProperties: 4,
          },
          start: { anyOf: [{ type: "integer", minimum: 0 }, { type: "string" }] },
          inner: { $ref: "#/components/schemas/Inner" },
        },
      },
      Inner: {
        type: "object",
        properties: { again: { $ref: "#/components/schemas/Inner" }, deep: { type: "boolean" } },
      },
      Booking: {
        type: "object",
        required: ["id", "state"],
        properties: {
          id: { type: "string", maxLength: 30 },
          state: { type: "string", enum: ["live", "over"] },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
          members: { type: "array", items: { $ref: "#/components/schemas/Inner" }, maxItems: 4 },
        },
      },
    },
  },
});
type Base = ReturnType<typeof base>;

/** The base with a change made to it. */
function changed(change: (document: Base & Json) => void): Document {
  const document = base() as Base & Json;
  change(document);
  return document as unknown as Document;
}

const told = (change: (document: Base & Json) => void) =>
  breakingChanges(base() as unknown as Document, changed(change)).map(
    ({ at, what }) => `${at}: ${what}`,
  );

const POST = "POST /book";
type Loose = Record<string, unknown>;
const ask = ({ components }: Base) =>
  components.schemas.Ask as unknown as Loose & {
    properties: Record<string, Loose>;
    required: string[];
  };
const booking = ({ components }: Base) =>
  components.schemas.Booking as unknown as Loose & {
    properties: Record<string, Loose>;
    required: string[];
  };

describe("a break", () => {
  it.each<[string, (document: Base & Json) => void, string]>([
    [
      "an operation that is gone",
      (d) => void delete (d.paths as Loose)["/free"],
      "GET /free: the operation is gone",
    ],
    [
      "another operationId",
      (d) => void (d.paths["/free"].get.operationId = "free.get"),
      "GET /free: its operationId was free.list",
    ],
    [
      "an answer that is gone",
      (d) => void delete (d.paths["/book"].post.responses as Loose)["409"],
      `${POST}: the 409: the answer is gone`,
    ],
    [
      "an answer's media type",
      (d) => void (d.components.responses.Conflict.content = {} as never),
      `${POST}: the 409's application/problem+json: the media type is gone`,
    ],
    [
      "an answer's header",
      (d) => void delete (d.paths["/book"].post.responses[200] as Loose)["headers"],
      `${POST}: the 200's x-request-id: the header is gone`,
    ],
    [
      "a parameter that is gone",
      (d) => void d.paths["/book"].post.parameters.pop(),
      `${POST}: the header Key: the parameter is gone`,
    ],
    [
      "a parameter that must be given",
      (d) => void (d.components.parameters.Key.required = true),
      `${POST}: the header Key: must be given now`,
    ],
    [
      "a new parameter that must be given",
      (d) =>
        void d.paths["/book"].post.parameters.push({
          name: "n",
          in: "query",
          required: true,
          schema: { type: "string", maxLength: 1 },
        }),
      `${POST}: the query n: must be given now`,
    ],
    [
      "a parameter's shorter text",
      (d) =>
        void ((d.paths["/book"].post.parameters[0] as { schema: Loose }).schema["maxLength"] = 31),
      `${POST}: the header If-Match: maxLength is 31, was 32`,
    ],
    [
      "a body that must be given",
      (d) => void (d.paths["/book"].post.requestBody.required = true),
      `${POST}: a body must be given now`,
    ],
    [
      "a field that is not taken any more",
      (d) => void delete ask(d).properties["label"],
      `${POST}: the request's label: the field is gone`,
    ],
    [
      "a new field that must be given",
      (d) => {
        ask(d).properties["why"] = { type: "string" };
        ask(d).required.push("why");
      },
      `${POST}: the request's why: must be given now`,
    ],
    [
      "an old field that must be given",
      (d) => void ask(d).required.push("class"),
      `${POST}: the request's class: must be given now`,
    ],
    [
      "a narrower enum",
      (d) => void (ask(d).properties["class"] = { type: "string", enum: ["gpu"] }),
      `${POST}: the request's class: the value nic is not taken any more`,
    ],
    [
      "an enum where there was none",
      (d) => void (ask(d).properties["label"] = { ...ask(d).properties["label"], enum: ["a"] }),
      `${POST}: the request's label: only certain values are taken now`,
    ],
    [
      "a smaller maximum",
      (d) => void (ask(d).properties["count"] = { type: "integer", minimum: 1, maximum: 63 }),
      `${POST}: the request's count: maximum is 63, was 64`,
    ],
    [
      "a larger minimum",
      (d) => void (ask(d).properties["count"] = { type: "integer", minimum: 2, maximum: 64 }),
      `${POST}: the request's count: minimum is 2, was 1`,
    ],
    [
      "fewer entries",
      (d) => void (ask(d).properties["units"] = { ...ask(d).properties["units"], maxItems: 7 }),
      `${POST}: the request's units: maxItems is 7, was 8`,
    ],
    [
      "entries that must differ",
      (d) =>
        void (ask(d).properties["units"] = { ...ask(d).properties["units"], uniqueItems: true }),
      `${POST}: the request's units: entries must differ now`,
    ],
    [
      "shorter entries",
      (d) =>
        void (ask(d).properties["units"] = {
          ...ask(d).properties["units"],
          items: { type: "string", maxLength: 8 },
        }),
      `${POST}: the request's units[]: maxLength is 8, was 9`,
    ],
    [
      "smaller values of a map",
      (d) =>
        void (ask(d).properties["quota"] = {
          ...ask(d).properties["quota"],
          additionalProperties: { type: "integer", maximum: 8 },
        }),
      `${POST}: the request's quota.*: maximum is 8, was 9`,
    ],
    [
      "a limit where there was none",
      (d) =>
        void (ask(d).properties["start"] = {
          anyOf: [{ type: "integer", minimum: 0, maximum: 9 }, { type: "string" }],
        }),
      `${POST}: the request's start: maximum is 9, was not limited`,
    ],
    [
      "another pattern",
      (d) =>
        void (ask(d).properties["label"] = { ...ask(d).properties["label"], pattern: "^[a-y]*$" }),
      `${POST}: the request's label: the pattern is ^[a-y]*$, was ^[a-z]*$`,
    ],
    [
      "another type",
      (d) => void (ask(d).properties["count"] = { type: "string" }),
      `${POST}: the request's count: integer is not taken any more`,
    ],
    [
      "one type fewer",
      (d) => void (ask(d).properties["start"] = { type: "integer", minimum: 0 }),
      `${POST}: the request's start: string is not taken any more`,
    ],
    [
      "unknown fields that are refused",
      (d) => void ((d.components.schemas.Inner as Loose)["additionalProperties"] = false),
      `${POST}: the request's inner: fields that it does not know are refused now`,
    ],
    [
      "a field that is not answered any more",
      (d) => void delete booking(d).properties["note"],
      `${POST}: the 200's note: the field is gone`,
    ],
    [
      "an answer's field that may be absent",
      (d) => void (booking(d).required = ["id"]),
      `${POST}: the 200's state: may be absent now`,
    ],
    [
      "an answer's field that may be null",
      (d) => void (booking(d).properties["id"] = { anyOf: [{ type: "string" }, { type: "null" }] }),
      `${POST}: the 200's id: may be null now`,
    ],
    [
      "an answer's other type",
      (d) => void (booking(d).properties["id"] = { type: "integer" }),
      `${POST}: the 200's id: may be integer now`,
    ],
    [
      "a field within what both refer to",
      (d) => void delete (d.components.schemas.Inner.properties as Loose)["deep"],
      `${POST}: the 200's members[].deep: the field is gone`,
    ],
  ])("is %s", (_what, change, expected) => {
    expect(told(change)).toContain(expected);
  });
});

describe("no break", () => {
  it.each<[string, (document: Base & Json) => void]>([
    ["the same document", () => undefined],
    ["a new path", (d) => void ((d.paths as Loose)["/new"] = { get: { responses: {} } })],
    ["a new answer", (d) => void ((d.paths["/book"].post.responses as Loose)["410"] = {})],
    ["a new field that may be given", (d) => void (ask(d).properties["why"] = { type: "string" })],
    ["a field that need not be given any more", (d) => void (ask(d).required = [])],
    [
      "a wider enum",
      (d) => void (ask(d).properties["class"] = { type: "string", enum: ["gpu", "nic", "disk"] }),
    ],
    [
      "a wider range",
      (d) => void (ask(d).properties["count"] = { type: "integer", minimum: 0, maximum: 65 }),
    ],
    [
      "one type more",
      (d) =>
        void (ask(d).properties["count"] = {
          anyOf: [{ type: "integer", minimum: 1, maximum: 64 }, { type: "null" }],
        }),
    ],
    ["no pattern any more", (d) => void delete ask(d).properties["label"]?.["pattern"]],
    ["a new field of an answer", (d) => void (booking(d).properties["more"] = { type: "string" })],
    [
      "a new value in an answer",
      (d) =>
        void (booking(d).properties["state"] = { type: "string", enum: ["live", "over", "late"] }),
    ],
    ["a field that is always answered now", (d) => void booking(d).required.push("note")],
    [
      "a field that is never null any more",
      (d) => void (booking(d).properties["note"] = { type: "string" }),
    ],
    ["another word for it", (d) => void (booking(d)["description"] = "A booking.")],
  ])("is %s", (_what, change) => {
    expect(told(change)).toEqual([]);
  });
});

it("the document of this version breaks nothing in the last released one", () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8")) as Document;
  const now = read("packages/contract/openapi.json");
  expect(breakingChanges(read("apps/docs/reference/released/openapi-0.1.0.json"), now)).toEqual([]);
  expect(Object.keys(now.paths ?? {}).length).toBeGreaterThan(50);
});
