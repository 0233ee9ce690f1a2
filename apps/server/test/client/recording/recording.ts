/** What a released client sent and was answered, as it is written down. */
import type { Shape } from "./shape.ts";

export interface Recording {
  /** Of the client. */
  readonly version: string;
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  readonly method: string;
  /** With its query; of the server's own address nothing is kept. */
  readonly path: string;
  /** Without the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whose token: the operator's, none that is good, or one that an earlier call answered. */
  readonly token: "operator" | "wrong" | Reference;
  /** Plain JSON, with references in place of what the server made and of times. */
  readonly body: unknown;
  readonly status: number;
  /** Headers that the answer must have. */
  readonly answered: readonly string[];
  /** Codes of errors in it, in order. */
  readonly codes: readonly string[];
  /** Of each part of a batch; of anything else it is one. */
  readonly shapes: readonly Shape[];
}

/** A text that the server made: which call's answer has it, and where. */
export interface Reference {
  readonly $answer: number;
  readonly at: readonly (string | number)[];
}

/** An answer as the client reads it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Of a batch; of anything else it is one. */
  readonly parts: readonly unknown[];
}

/** What the client reads of the headers. */
const READ = [
  "berth-api-version",
  "content-type",
  "idempotent-replayed",
  "retry-after",
  "x-request-id",
];

export function headersOf({ headers }: Answer): string[] {
  return READ.filter((name) => headers.has(name));
}

/** Codes of the errors in an answer, and in the parts of a batch. */
export function codesOf({ parts }: Answer): string[] {
  return parts.flatMap((part) => {
    const { error } = part as { error?: { data?: { berth?: { code?: string } } } };
    return error ? [error.data?.berth?.code ?? "none"] : [];
  });
}

/** Reads all of an answer, of a stream the first event. */
export async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) return { status, headers, parts: [await firstEvent(response)] };
  const body = JSON.parse(await response.text()) as unknown;
  return { status, headers, parts: [body].flat().map(opened) };
}

async function firstEvent({ body }: Response): Promise<unknown> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (const frame of text.split("\n\n").slice(0, -1)) {
      const event = told(frame);
      if (event) return event;
    }
  }
  throw new Error(`the stream ended without an event: ${text}`);
}

/** The event of a frame; null for signs of life. */
function told(frame: string): unknown {
  const data = /^data: ?(.*)$/m.exec(frame)?.[1];
  if (data === undefined || /^event:/m.test(frame)) return null;
  return envelope(JSON.parse(data) as Envelope);
}

interface Envelope {
  readonly json: unknown;
  readonly meta?: { readonly values?: Readonly<Record<string, unknown>> };
}

/** tRPC's answer with what is in its envelope. */
function opened(part: unknown): unknown {
  const { result, error } = part as { result?: { data: Envelope }; error?: Envelope };
  if (error) return { error: envelope(error) };
  return { result: result ? envelope(result.data) : null };
}

/** Fields that are marked as absent are. */
function envelope({ json, meta }: Envelope): unknown {
  for (const path of Object.keys(meta?.values ?? {})) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let at = json as Record<string, unknown> | undefined;
    for (const step of steps) at = at?.[step] as Record<string, unknown> | undefined;
    if (at?.[last] === null) delete at[last];
  }
  return json;
}
