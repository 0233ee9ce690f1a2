/** A caller of the HTTP surface as another service would be one: one connection, kept open, one call at a time, unless it is given more. */
import { Pool } from "undici";

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

/** By a client that spends little, as it shares the processors with what is measured. */
export class Caller {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, token: string, options: CallerOptions = {}) {
    const { timeoutMs = 60_000, sockets = 1 } = options;
    const patience = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    this.#pool = new Pool(url, { connections: sockets, pipelining: 1, ...patience });
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  /** One call of `group.method`; resolves with whatever the server answered. */
  async call(method: string, input: unknown): Promise<Answer> {
    const { statusCode, headers, body } = await this.#pool.request({
      method: "POST",
      path: `/api/compute/${method.replace(".", "/")}`,
      headers: this.#headers,
      body: JSON.stringify(input),
    });
    return {
      status: statusCode,
      seq: numberIn(headers["x-berth-seq"]),
      replayed: headers["idempotent-replayed"] === "true",
      retryAfter: numberIn(headers["retry-after"]),
      body: (await body.json()) as Answer["body"],
    };
  }

  /** As `call`, for set-up: anything but 200 is an error that shows what the server said. */
  async must(method: string, input: unknown): Promise<Answer["body"]> {
    const { status, body } = await this.call(method, input);
    if (status !== 200)
      throw new Error(`${method} answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
    return body;
  }

  close(): void {
    void this.#pool.destroy();
  }
}

function numberIn(header: string | string[] | undefined): number | null {
  return typeof header === "string" ? Number(header) : null;
}
