/** The client: every group and method of the API, typed, and what is made of them. */
import type { BerthApi, Event } from "./api.gen.ts";
import { createCall } from "./call.ts";
import type { Call, Method } from "./call.ts";
import type { Hold, HoldOptions, HoldRequest } from "./hold.ts";
import { METHODS } from "./methods.gen.ts";
import type { MethodTraits } from "./methods.gen.ts";
import type { BerthOptions, CallOptions, RawCallOptions, WatchOptions } from "./options.ts";
import { berthList, berthPromise } from "./promise.ts";
import type { BerthPromise, WithResponse } from "./promise.ts";
import { createSession } from "./session.ts";
import type { Session } from "./session.ts";
import { createTransport } from "./transport.ts";

/** A client of one server. It holds no connection and no timer: there is nothing to close. */
export interface Berth extends BerthApi {
  /**
   * Books with a lease and keeps it: renewed in the background for as long as it is held, and given back by
   * `await using`, or by `release`.
   *
   * Resolves when the booking is active and its GPUs are yours: of one that starts later, or that spot bookings have to
   * make way for, that is after its start. Should it end before, it rejects with `HOLD_LOST`; when `options.signal`
   * aborts before, it is given back.
   *
   * Rejects as `reservations.create` does. Should the answer get lost, the lease ends what was booked.
   *
   * @example
   * await using hold = await berth.hold({ tenantId, poolId, ...gpus(8), duration: "4h" });
   * await train(hold.reservation.members, { signal: hold.signal });
   */
  hold(ask: HoldRequest, options?: HoldOptions): Promise<Hold>;
  /**
   * Books as `hold` does, runs the body once the booking is active and gives back what was held, whatever the body does.
   *
   * Answers what the body answers and throws what it throws: a release that fails goes to the hook
   * `onReleaseFailed` and hides no error of the body's.
   */
  withHold<T>(
    ask: HoldRequest,
    body: (hold: Hold) => T | Promise<T>,
    options?: HoldOptions,
  ): Promise<T>;
  /**
   * Calls a method by its name, such as one of a server that is newer than this client.
   *
   * Nothing is known of its input and its answer: they are not checked. A method that this client knows is called as
   * it always is. Of any other, what you call a `read` shares requests and is repeated, and what you give an
   * `idempotencyKey` is sent with it and repeated.
   *
   * @param name `group.method`
   * @throws TypeError for what is no such name, and for a stream
   */
  call(name: string, input?: object, options?: RawCallOptions): BerthPromise<unknown>;
}

/**
 * Makes a client. Nothing is asked of the server yet.
 *
 * @throws TypeError when `url`, here or in the environment, is not the address of a server, or for what are no options
 * @example
 * const berth = createBerth({ url: "https://berth.internal", token: process.env.BERTH_TOKEN });
 * const plan = await berth.capacity.preview({ tenantId: "acme", poolId, ...gpus(8), duration: "4h" });
 */
export function createBerth(options: BerthOptions = {}): Berth {
  const session = createSession(options);
  const call = createCall(session, createTransport(session));
  const groups = Object.entries(METHODS).map(([group, methods]) => [
    group,
    Object.fromEntries(
      Object.entries<MethodTraits>(methods).map(([name, traits]) => [
        name,
        methodOf(session, call, { ...traits, name: `${group}.${name}` }),
      ]),
    ),
  ]);
  // METHODS names exactly the members of BerthApi; building it by name loses that.
  const api = Object.fromEntries(groups) as unknown as BerthApi;
  const holding = { reservations: api.reservations, tell: session.tell };
  return {
    ...api,
    async hold(ask, more) {
      const { startHold } = await import("./hold.ts");
      return startHold(holding, ask, more);
    },
    async withHold(ask, body, more) {
      const { startHold, useHold } = await import("./hold.ts");
      return useHold(await startHold(holding, ask, more), body);
    },
    call: (name, input = {}, more = {}) => berthPromise(call(methodNamed(name, more), input, more)),
  };
}

type Named = MethodTraits & { readonly name: string };

/** The function behind one name. */
function methodOf(session: Session, call: Call, traits: Named): unknown {
  const { name, kind, page } = traits;
  if (kind === "subscription")
    return (input: object, more?: WatchOptions) => stream(session, name, { input, more });
  const method = { ...traits, kind };
  type Answer = Readonly<Record<string, unknown>>;
  const once = (input: object = {}, more?: CallOptions): BerthPromise<Answer> =>
    berthPromise(call(method, input, more) as Promise<WithResponse<Answer>>);
  if (!page) return once;
  const [entries, cursor] = page;
  return (input: object, more?: CallOptions) =>
    berthList<Answer, unknown>(once(input, more), {
      entries: (answer) => (answer[entries] ?? []) as readonly unknown[],
      cursor: (answer) => (answer["nextCursor"] ?? null) as string | null,
      next: (value) => once({ ...input, [cursor]: value }, more),
    });
}

const KNOWN: ReadonlyMap<string, MethodTraits> = new Map(
  Object.entries(METHODS).flatMap(([group, methods]) =>
    Object.entries<MethodTraits>(methods).map(([name, traits]) => [`${group}.${name}`, traits]),
  ),
);

/** @throws TypeError */
function methodNamed(name: string, { kind = "mutation", idempotencyKey }: RawCallOptions): Method {
  if (!/^[A-Za-z]\w*\.[A-Za-z]\w*$/.test(name))
    throw new TypeError(
      `call needs the name of a method such as "pools.list", not ${JSON.stringify(name)}`,
    );
  // Who gives a key says that the method takes one.
  const unknown: MethodTraits = idempotencyKey === undefined ? { kind } : { kind, keyed: true };
  const traits = KNOWN.get(name) ?? unknown;
  if (traits.kind === "subscription") throw new TypeError(`${name} is a stream: use berth.${name}`);
  return { ...traits, kind: traits.kind, name };
}

/** What reads streams is loaded when the first one is begun. */
async function* stream(
  session: Session,
  path: string,
  { input, more }: { input: object; more: WatchOptions | undefined },
): AsyncGenerator<Event, void, undefined> {
  const { watchEvents } = await import("./watch.ts");
  yield* watchEvents(session, {
    path,
    input: more?.lastEventId === undefined ? input : { lastEventId: more.lastEventId, ...input },
    signal: more?.signal,
  });
}
