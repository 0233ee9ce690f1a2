/** A caller of the HTTP surface as another service would be one: one connection, kept open, one call at a time, unless it is given more. */
import { Agent, request } from "node:http";

export interface Answer {
  readonly status: number;
  /** `x-berth-seq`. */
  readonly seq: number | null;
  /** `Idempotent-Replayed`. */
  readonly replayed: boolean;
  /** `Retry-After`, seconds. */
  readonly retryAfter: number | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallerOptions {
  /** A call that is not answered in time is lost, as one whose connection is cut. */
  readonly timeoutMs?: number;
  /** More of them make more calls at a time. */
  readonly sockets?: number;
}

export class Caller {
  readonly #agent: Agent;
  readonly #url: string;
  readonly #token: string;

  readonly #timeoutMs: number;

  constructor(url: string, token: string, options: CallerOptions = {}) {
    const { timeoutMs = 60_000, sockets = 1 } = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets });
    this.#url = url;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /** One call of `group.method`; resolves with whatever the server answered. */
  call(method: string, input: unknown): Promise<Answer> {
    const payload = Buffer.from(JSON.stringify(input));
    const headers = {
      authorization: `Bearer ${this.#token}`,
      "content-type": "application/json",
      "content-length": payload.length,
    };
    const url = `${this.#url}/api/compute/${method.replace(".", "/")}`;
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            seq: numberIn(response.headers["x-berth-seq"]),
            replayed: response.headers["idempotent-replayed"] === "true",
            retryAfter: numberIn(response.headers["retry-after"]),
            body: JSON.parse(text) as Answer["body"],
          });
        });
      });
      sent.setTimeout(this.#timeoutMs, () => sent.destroy(new Error("not answered in time")));
      sent.on("error", reject);
      sent.end(payload);
    });
  }

  /** As `call`, for set-up: anything but 200 is an error that shows what the server said. */
  async must(method: string, input: unknown): Promise<Answer["body"]> {
    const { status, body } = await this.call(method, input);
    if (status !== 200)
      throw new Error(`${method} answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
    return body;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function numberIn(header: string | string[] | undefined): number | null {
  return typeof header === "string" ? Number(header) : null;
}
