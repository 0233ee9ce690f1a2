/**
 * A loopback proxy in front of PostgreSQL that knows enough of its protocol to break a connection at a
 * chosen statement.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

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
  /** Each message comes that much later, plus a random part of the jitter; in order. */
  | { readonly kind: "latency"; readonly ms: number; readonly jitter?: number }
  /** Everything comes in pieces of so many bytes. */
  | { readonly kind: "slice"; readonly bytes: number }
  /**
   * Nothing comes through, and nobody is told: once it is over what was held comes after all, as TCP sends
   * it again, even if its sender has given up.
   */
  | { readonly kind: "blackhole" }
  | { readonly kind: "refuse" };

type Counted = CutAt | "refused" | "opened" | "delayed" | "sliced" | "held";

export interface FaultProxy {
  /** The target's URL, through the proxy. */
  readonly url: string;
  set(...faults: readonly Fault[]): void;
  /** Cuts every connection that is open now. */
  cutAll(): void;
  /** Connections cut, refused and opened; messages delayed, cut in pieces, and held in the black hole. */
  readonly counts: Readonly<Record<Counted, number>>;
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
    counts: {
      before: 0,
      after: 0,
      zombie: 0,
      refused: 0,
      opened: 0,
      delayed: 0,
      sliced: 0,
      held: 0,
    },
    hole: null,
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
      const dark = faults.some(({ kind }) => kind === "blackhole");
      if (dark) state.hole ??= Promise.withResolvers<void>();
      else {
        state.hole?.resolve();
        state.hole = null;
      }
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
  readonly counts: Record<Counted, number>;
  /** Resolved when the black hole is over; null without one. */
  hole: PromiseWithResolvers<void> | null;
  readonly random: () => number;
}

/** The rest of a large message comes at once: it is torn at enough places by then. */
const PIECES_MAX = 200;

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
  /** What is to come through, one after the other, and how much of it there is. */
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;
  #dueAt = 0;

  constructor(client: Socket, server: Socket, state: State) {
    this.#client = client;
    this.#server = server;
    this.#state = state;
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => this.end());
    client
      .on("data", (data: Buffer) => this.#onClient(data))
      .on("close", () => this.#zombie || this.#clientGone());
    server.on("data", (data: Buffer) => this.#onServer(data)).on("close", () => this.end());
  }

  end(): void {
    this.#state.links.delete(this);
    this.#client.destroy();
    this.#server.destroy();
  }

  /** In a black hole the server hears neither of it nor, before, of what the client had sent. */
  #clientGone(): void {
    if (this.#state.hole && this.#waiting > 0) void this.#tail.then(() => this.end());
    else this.end();
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

  /** In order; late, in pieces or after the black hole when the fault says so. */
  #send(socket: Socket, data: Buffer): void {
    const { faults, hole, random, counts } = this.#state;
    const latency = faults.find((fault) => fault.kind === "latency");
    const slice = faults.find((fault) => fault.kind === "slice");
    if (!latency && !slice && !hole && this.#waiting === 0) {
      if (!socket.destroyed) socket.write(data);
      return;
    }
    if (hole) counts.held += 1;
    if (latency) counts.delayed += 1;
    if (slice) counts.sliced += 1;
    const late = latency ? latency.ms + random() * (latency.jitter ?? 0) : 0;
    this.#dueAt = Math.max(this.#dueAt, performance.now() + late);
    const at = this.#dueAt;
    this.#waiting += 1;
    this.#tail = this.#tail.then(() => this.#deliver(socket, data, { at, bytes: slice?.bytes }));
  }

  async #deliver(
    socket: Socket,
    data: Buffer,
    { at, bytes = data.length }: { readonly at: number; readonly bytes: number | undefined },
  ): Promise<void> {
    const left = at - performance.now();
    if (left > 0) await delay(left);
    while (this.#state.hole) await this.#state.hole.promise;
    for (let sent = 0, piece = 1; sent < data.length && !socket.destroyed; piece += 1) {
      const end = piece < PIECES_MAX ? sent + bytes : data.length;
      socket.write(data.subarray(sent, end));
      sent = end;
      // The other end is to see every piece by itself.
      if (sent < data.length) await nextTurn();
    }
    this.#waiting -= 1;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}
