/**
 * A loopback proxy in front of PostgreSQL that knows enough of its protocol to break a connection at a
 * chosen statement.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * - `before`: the client is cut off before the server sees the statement;
 * - `after`: the server has answered it, the client does not hear;
 * - `zombie`: the server gets it, the client is cut off at once, the statement runs on alone.
 */
export type CutAt = "before" | "after" | "zombie";

export type Fault =
  | {
      readonly kind: "cut";
      /** Tested against the text of simple and of prepared statements. */
      readonly on: RegExp;
      readonly at: CutAt;
      /** How likely, drawn anew for each statement. Default 1. */
      readonly probability?: number;
      /** At most this often. Default: no limit. */
      readonly times?: number;
    }
  | { readonly kind: "latency"; readonly ms: number; readonly jitter?: number }
  | { readonly kind: "refuse" };

export interface FaultProxy {
  /** The target's URL, through the proxy. */
  readonly url: string;
  set(...faults: readonly Fault[]): void;
  /** Cuts every connection that is open now. */
  cutAll(): void;
  readonly counts: Readonly<Record<CutAt | "refused" | "opened", number>>;
  close(): Promise<void>;
}

/** How long a zombie's statement may run on. */
const ZOMBIE_MS = 5_000;

/** @param random in [0,1), so that a run can be repeated */
export async function faultProxy(target: string, random = Math.random): Promise<FaultProxy> {
  const to = new URL(target);
  const state: State = {
    faults: [],
    fired: new Map(),
    links: new Set(),
    counts: { before: 0, after: 0, zombie: 0, refused: 0, opened: 0 },
    random,
  };
  const server = createServer((client) => {
    if (state.faults.some(({ kind }) => kind === "refuse")) {
      state.counts.refused += 1;
      client.destroy();
      return;
    }
    state.counts.opened += 1;
    state.links.add(new Link(client, connect(Number(to.port), to.hostname), state));
  });
  const port = await listen(server);
  const cutAll = (): void => {
    for (const link of state.links) link.end();
  };
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    counts: state.counts,
    cutAll,
    set(...faults) {
      state.faults = faults;
      state.fired.clear();
    },
    async close() {
      cutAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface State {
  faults: readonly Fault[];
  readonly fired: Map<Fault, number>;
  readonly links: Set<Link>;
  readonly counts: Record<CutAt | "refused" | "opened", number>;
  readonly random: () => number;
}

const PROTOCOL_3 = 196_608;
/** ReadyForQuery with any transaction status. */
const READY = [0x5a, 0, 0, 0, 5];

/** One client's connection and the server's side of it. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #state: State;
  readonly #statements = new Map<string, string>();
  #fromClient: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);
  #started = false;
  #armed: CutAt | null = null;
  #zombie = false;
  #tail: Promise<void> = Promise.resolve();

  constructor(client: Socket, server: Socket, state: State) {
    this.#client = client;
    this.#server = server;
    this.#state = state;
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => this.end());
    client
      .on("data", (data: Buffer) => this.#onClient(data))
      .on("close", () => this.#zombie || this.end());
    server.on("data", (data: Buffer) => this.#onServer(data)).on("close", () => this.end());
  }

  end(): void {
    this.#state.links.delete(this);
    this.#client.destroy();
    this.#server.destroy();
  }

  #onClient(data: Buffer): void {
    this.#fromClient = Buffer.concat([this.#fromClient, data]);
    for (let frame = this.#nextFrame(); frame; frame = this.#nextFrame()) {
      if (this.#zombie) return;
      if (!this.#pass(frame)) return;
    }
  }

  /** The next whole message of the client; the first ones have no type byte. */
  #nextFrame(): Buffer | null {
    const head = this.#started ? 1 : 0;
    if (this.#fromClient.length < head + 4) return null;
    const length = head + this.#fromClient.readUInt32BE(head);
    if (this.#fromClient.length < length) return null;
    const frame = this.#fromClient.subarray(0, length);
    this.#fromClient = this.#fromClient.subarray(length);
    return frame;
  }

  #pass(frame: Buffer): boolean {
    if (!this.#started) {
      this.#started = frame.readUInt32BE(4) === PROTOCOL_3;
      this.#send(this.#server, frame);
      return true;
    }
    const type = String.fromCharCode(frame[0] ?? 0);
    const text = this.#textOf(type, frame);
    if (text !== null && this.#armed === null) this.#armed = this.#draw(text);
    if (this.#armed === "before") {
      this.#state.counts.before += 1;
      this.end();
      return false;
    }
    this.#send(this.#server, frame);
    if (this.#armed === "zombie" && (type === "Q" || type === "S")) this.#abandon();
    return true;
  }

  /** The text that runs with this message: a simple query, or the binding of a prepared one. */
  #textOf(type: string, frame: Buffer): string | null {
    if (type === "Q") return frame.toString("utf8", 5, frame.length - 1);
    const first = frame.indexOf(0, 5);
    const second = frame.indexOf(0, first + 1);
    if (type === "P")
      this.#statements.set(
        frame.toString("utf8", 5, first),
        frame.toString("utf8", first + 1, second),
      );
    if (type === "B") return this.#statements.get(frame.toString("utf8", first + 1, second)) ?? "";
    return null;
  }

  #draw(text: string): CutAt | null {
    const { faults, fired, random } = this.#state;
    for (const fault of faults) {
      if (fault.kind !== "cut" || !fault.on.test(text)) continue;
      const before = fired.get(fault) ?? 0;
      if (before >= (fault.times ?? Infinity) || random() >= (fault.probability ?? 1)) continue;
      fired.set(fault, before + 1);
      return fault.at;
    }
    return null;
  }

  #abandon(): void {
    this.#zombie = true;
    this.#state.counts.zombie += 1;
    this.#client.destroy();
    setTimeout(() => this.end(), ZOMBIE_MS).unref();
  }

  #onServer(data: Buffer): void {
    if (this.#zombie) return;
    if (this.#armed !== "after") return this.#send(this.#client, data);
    this.#held = Buffer.concat([this.#held, data]);
    if (!this.#held.includes(Buffer.from(READY))) return;
    this.#state.counts.after += 1;
    this.end();
  }

  /** In order, late when the fault says so. */
  #send(socket: Socket, data: Buffer): void {
    const latency = this.#state.faults.find((fault) => fault.kind === "latency");
    const write = (): void => {
      if (!socket.destroyed) socket.write(data);
    };
    if (!latency) {
      write();
      return;
    }
    const ms = latency.ms + this.#state.random() * (latency.jitter ?? 0);
    this.#tail = this.#tail.then(() => delay(ms)).then(write);
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}
