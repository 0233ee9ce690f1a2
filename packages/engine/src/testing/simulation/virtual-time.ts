/**
 * A timeline that only the simulation moves. Whatever waits is a task at an instant; one task runs at a
 * time, and everything that it sets off is over before the next one begins. Tasks of one instant come in
 * an order that is drawn, so a seed gives every order and always the same one.
 */
import type { Seeded } from "../seeded.ts";

interface Task {
  readonly at: number;
  readonly tie: number;
  readonly run: () => void;
}

export class VirtualTime {
  readonly #random: Seeded;
  readonly #tasks: Task[] = [];
  #now = 0;
  /** Told of every millisecond that passes. */
  passed: (ms: number) => void = () => undefined;

  constructor(random: Seeded) {
    this.#random = random;
  }

  get now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): void {
    // Whole milliseconds, as the database tells them.
    const task = { at: this.#now + Math.round(ms), tie: this.#random.next(), run };
    let place = this.#tasks.length;
    while (place > 0 && isBefore(task, this.#tasks[place - 1])) place -= 1;
    this.#tasks.splice(place, 0, task);
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const over = (): void => {
        signal?.removeEventListener("abort", over);
        resolve();
      };
      signal?.addEventListener("abort", over);
      this.after(ms, over);
    });
  }

  /** Runs the next task and all that follows from it at once. */
  async step(): Promise<void> {
    const task = this.#tasks.shift();
    if (task) {
      this.#moveTo(task.at);
      task.run();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Time in which nothing ran: what was due in it is late. */
  leap(ms: number): void {
    this.#moveTo(this.#now + ms);
  }

  #moveTo(at: number): void {
    if (at <= this.#now) return;
    this.passed(at - this.#now);
    this.#now = at;
  }
}

function isBefore(task: Task, other: Task | undefined): boolean {
  return (
    other !== undefined && (task.at < other.at || (task.at === other.at && task.tie < other.tie))
  );
}
