/** A `fetch` that writes down what goes through it. */
import { type Answer, type RecordedCall, codesOf, headersOf, read } from "./recording.ts";
import { References } from "./references.ts";
import { shapeOf } from "./shape.ts";

export interface Recorder {
  readonly fetch: typeof globalThis.fetch;
  /** All calls, once every answer has come. */
  calls(): Promise<RecordedCall[]>;
}

interface Sent extends RequestInit {
  readonly method: string;
  readonly body: string;
}

/** Not of the call: whose it is, and what the runtime adds. */
const LEFT_OUT = new Set(["authorization"]);

export function createRecorder(operatorToken: string): Recorder {
  const references = new References();
  const calls: Promise<RecordedCall>[] = [];

  /** Whose token it is. */
  const tokenOf = (headers: Headers): RecordedCall["token"] => {
    const token = headers.get("authorization")?.replace("Bearer ", "") ?? "";
    return token === operatorToken ? "operator" : (references.of(token) ?? "wrong");
  };
  // The client calls it with texts alone.
  const fetch = async (url: string, init: Sent): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const headers = new Headers(init.headers);
    const asked = {
      method: init.method,
      path: `${pathname}${search}`,
      headers: Object.fromEntries([...headers].filter(([name]) => !LEFT_OUT.has(name))),
      token: tokenOf(headers),
      body: references.write(JSON.parse(init.body) as unknown),
    };
    const response = await globalThis.fetch(url, init);
    const [mine, theirs] = response.body?.tee() ?? [null, null];
    const { status, headers: answered } = response;
    const call = calls.length;
    const reading = read(new Response(mine, { status, headers: answered }));
    calls.push(reading.then((answer) => ({ ...asked, ...of(answer) })));
    // A stream is read beside the one who watches it; of anything else the next call may speak.
    if (answered.get("content-type")?.startsWith("application/json"))
      references.learn((await reading).parts, call);
    return new Response(theirs, { status, headers: answered });
  };
  return { fetch: fetch as typeof globalThis.fetch, calls: () => Promise.all(calls) };
}

function of(answer: Answer): Pick<RecordedCall, "status" | "answered" | "codes" | "shapes"> {
  return {
    status: answer.status,
    answered: headersOf(answer),
    codes: codesOf(answer),
    shapes: answer.parts.map(shapeOf),
  };
}
