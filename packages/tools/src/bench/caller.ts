/** A caller of the HTTP surface as another service would be one: one connection, kept open, one call at a time. */
import { Agent, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
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
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer["body"] });
        });
      });
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
