/**
 * The only way to write. The driver lets the callback of a transaction whose connection died go on over
 * the next connection, inside somebody else's transaction; so here every slot is a client with exactly one
 * connection, thrown away for good when that closes, and a transaction's handle dies with it.
 */
import type { ParameterOrJSON } from "postgres";
import { type Bounds, type Client, type Types, createClient } from "./client.ts";
import { ConnectionLost, UnknownOutcome, isConnectionLoss } from "./errors.ts";

export type Parameter = ParameterOrJSON<Types[keyof Types]>;

export interface SlotTransaction {
  /** One statement of the transaction. */
  q<T>(text: string, params?: readonly Parameter[]): Promise<T[]>;
}

export interface SlotPoolOptions {
  readonly slots: number;
  readonly applicationName: string;
  /** Without an answer for this long the connection counts as lost. Above the server's statement timeout. */
  readonly answerMs?: number;
  /** Other limits than every connection's. */
  readonly bounds?: Bounds;
}

const ANSWER_MS = 9_000;
/** The driver tries for ever to connect to somebody who accepts and hangs up. */
const CONNECT_MS = 5_000;

export class SlotPool {
  readonly #make: () => Slot;
  readonly #max: number;
  readonly #idle: Slot[] = [];
  readonly #waiting: { resolve(slot: Slot): void; reject(error: Error): void }[] = [];
  #open = 0;
  #ended = false;

  constructor(url: string, options: SlotPoolOptions) {
    this.#max = options.slots;
    this.#make = () => new Slot(url, options);
  }

  /**
   * One statement that commits by itself, prepared.
   * @throws UnknownOutcome when the connection was lost after the statement was sent
   * @throws ConnectionLost when there was no connection to send it on
   */
  async run<T>(text: string, params: readonly Parameter[] = []): Promise<T[]> {
    const slot = await this.#take();
    try {
      await slot.connect();
      if (slot.dead) throw new ConnectionLost();
      return await slot.send<T>({ text, params, prepare: true }).catch((error: unknown) => {
        throw slot.dead ? new UnknownOutcome(error) : error;
      });
    } finally {
      this.#give(slot);
    }
  }

  /**
   * A READ COMMITTED transaction. It has succeeded when the server answered COMMIT and not otherwise.
   * @throws UnknownOutcome when the connection was lost during COMMIT
   * @throws ConnectionLost when it was lost earlier
   */
  async tx<T>(work: (tx: SlotTransaction) => Promise<T>): Promise<T> {
    const slot = await this.#take();
    let committing = false;
    try {
      await slot.connect();
      await slot.send({ text: "begin isolation level read committed" });
      const value = await this.#body(slot, work);
      committing = true;
      const [answer] = await slot.send<{ command: string }>({ text: "commit", commandTag: true });
      if (answer?.command !== "COMMIT")
        throw new Error(`the transaction was not committed but ended with ${answer?.command}`);
      return value;
    } catch (error) {
      if (slot.dead) throw committing ? new UnknownOutcome(error) : new ConnectionLost(error);
      if (!committing) await slot.send({ text: "rollback" }).catch((e: unknown) => slot.kill(e));
      throw error;
    } finally {
      this.#give(slot);
    }
  }

  /** Lets running statements finish, then closes every connection. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const waiter of this.#waiting.splice(0))
      waiter.reject(new ConnectionLost(new Error("the pool was closed")));
    await Promise.all(this.#idle.splice(0).map((slot) => slot.end()));
  }

  /** A statement that failed fails the transaction, whatever its caller made of the error. */
  async #body<T>(slot: Slot, work: (tx: SlotTransaction) => Promise<T>): Promise<T> {
    // It can die with its answer to `begin`; what is begun after that nobody would wait for.
    if (slot.dead) throw new ConnectionLost();
    let failed: { error: unknown } | null = null;
    let over = false;
    const running = new Set<Promise<unknown>>();
    const q = <R>(text: string, params: readonly Parameter[] = []): Promise<R[]> => {
      if (over) return Promise.reject(new Error("this transaction is over"));
      const sent = slot.send<R>({ text, params, prepare: true });
      running.add(sent);
      sent.catch((error: unknown) => (failed ??= { error })).finally(() => running.delete(sent));
      return sent;
    };
    try {
      const value = await slot.orDeath(work({ q }));
      await Promise.allSettled(running);
      if (failed) throw (failed as { error: unknown }).error;
      return value;
    } finally {
      over = true;
    }
  }

  async #take(): Promise<Slot> {
    if (this.#ended) throw new ConnectionLost(new Error("the pool was closed"));
    for (let slot = this.#idle.pop(); slot; slot = this.#idle.pop()) {
      if (!slot.dead) return slot;
      this.#open -= 1;
    }
    if (this.#open < this.#max) {
      this.#open += 1;
      return this.#make();
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #give(slot: Slot): void {
    if (this.#ended) {
      void slot.end();
      return;
    }
    const waiter = this.#waiting.shift();
    if (!slot.dead) {
      if (waiter) waiter.resolve(slot);
      else this.#idle.push(slot);
    } else if (waiter) {
      waiter.resolve(this.#make());
    } else {
      this.#open -= 1;
    }
  }
}

interface Statement {
  readonly text: string;
  readonly params?: readonly Parameter[];
  readonly prepare?: boolean;
  /** Answer the command tag instead of rows. */
  readonly commandTag?: boolean;
  readonly patienceMs?: number;
}

/** One connection, and the end of it. */
class Slot {
  readonly #client: Client;
  readonly #answerMs: number;
  /** Those who wait for an answer on it. */
  readonly #waiting = new Set<(error: unknown) => void>();
  #death: { readonly cause: unknown } | null = null;
  #connected = false;

  constructor(url: string, options: SlotPoolOptions) {
    this.#answerMs = options.answerMs ?? ANSWER_MS;
    this.#client = createClient(url, {
      applicationName: options.applicationName,
      ...(options.bounds ? { bounds: options.bounds } : {}),
      byKey: true,
      max: 1,
      idle_timeout: 0,
      fetch_types: false,
      onclose: () => this.kill(new Error("the connection was closed")),
    });
  }

  get dead(): boolean {
    return this.#death !== null;
  }

  /** For good: nothing is ever sent on it again. */
  kill(cause: unknown): void {
    if (this.#death) return;
    this.#death = { cause };
    for (const reject of this.#waiting) reject(cause);
    void this.#client.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Before the first statement, so that a failure to connect is told from one after sending. */
  async connect(): Promise<void> {
    if (this.#connected) return;
    try {
      await this.send({ text: "select 1", patienceMs: Math.min(CONNECT_MS, this.#answerMs) });
      this.#connected = true;
    } catch (error) {
      this.kill(error);
      throw new ConnectionLost(error);
    }
  }

  /** Rejects when the connection dies first. The driver may leave what was running unanswered. */
  orDeath<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#death) return reject(this.#death.cause);
      this.#waiting.add(reject);
      const done = (): unknown => this.#waiting.delete(reject);
      work.then(
        (value) => [done(), resolve(value)],
        (error: unknown) => [done(), reject(error)],
      );
    });
  }

  async send<T>(statement: Statement): Promise<T[]> {
    const { text, params = [], prepare = false, commandTag = false } = statement;
    const { patienceMs = this.#answerMs } = statement;
    if (this.#death) throw this.#death.cause;
    const late = setTimeout(
      () => this.kill(new Error(`no answer for ${patienceMs} ms`)),
      patienceMs,
    );
    try {
      const result = await this.orDeath(this.#client.unsafe(text, [...params], { prepare }));
      const rows: readonly unknown[] = commandTag ? [{ command: result.command }] : [...result];
      return rows as T[];
    } catch (error) {
      if (isConnectionLoss(error)) this.kill(error);
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  async end(): Promise<void> {
    if (this.#death) return;
    this.#death = { cause: new Error("the pool was closed") };
    await this.#client.end({ timeout: 5 }).catch(() => undefined);
  }
}
