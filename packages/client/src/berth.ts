/** The client: every group and method of the API, typed. */
import type {
  BerthApi,
  Event,
  ListReservationsInput,
  Reservation,
  ReservationsApi,
} from "./api.gen.ts";
import { createCall } from "./call.ts";
import { METHODS } from "./methods.gen.ts";
import type { MethodTraits } from "./methods.gen.ts";
import type { BerthOptions, CallOptions, WatchOptions } from "./options.ts";
import { everyEntry } from "./pages.ts";
import { createTransport } from "./transport.ts";

/** The group `reservations`, with what the client adds to it. */
export interface Reservations extends ReservationsApi {
  /**
   * Every reservation that `list` would answer, over all pages.
   *
   * Pages are asked for as the loop goes on; leave it and no more are.
   */
  listAll(input: ListReservationsInput, options?: CallOptions): AsyncIterable<Reservation>;
}

/** A client of one server. It holds no connection and no timer: there is nothing to close. */
export interface Berth extends BerthApi {
  reservations: Reservations;
}

/**
 * Makes a client. Nothing is asked of the server yet.
 *
 * @throws TypeError when `url` is no http or https address
 * @example
 * const berth = createBerth({ url: "https://berth.internal", token: process.env.BERTH_TOKEN });
 * const plan = await berth.capacity.preview({
 *   tenantId: "acme", poolId, devices: [{ class: "gpu", count: 8 }], duration: "4h",
 * });
 */
export function createBerth(options: BerthOptions): Berth {
  const call = createCall(createTransport(options), options);
  const groups = Object.entries(METHODS).map(([group, methods]) => {
    const functions = Object.entries<MethodTraits>(methods).map(([name, { kind, keyed }]) => {
      const path = `${group}.${name}`;
      if (kind === "subscription")
        return [
          name,
          (input: object, more?: WatchOptions) => stream(options, { path, input, more }),
        ];
      const method = { name: path, kind, keyed };
      return [name, (input: object = {}, more?: CallOptions) => call(method, input, more)];
    });
    return [group, Object.fromEntries(functions)];
  });
  // METHODS names exactly the members of BerthApi; building it by name loses that.
  const api = Object.fromEntries(groups) as unknown as BerthApi;
  return { ...api, reservations: withPages(api.reservations) };
}

/** What reads streams is loaded when the first one is begun. */
async function* stream(
  options: BerthOptions,
  { path, input, more }: { path: string; input: object; more: WatchOptions | undefined },
): AsyncGenerator<Event, void, undefined> {
  const { watchEvents } = await import("./watch.ts");
  yield* watchEvents(options, { path, input, signal: more?.signal });
}

function withPages(reservations: ReservationsApi): Reservations {
  return {
    ...reservations,
    listAll: (input, options) =>
      everyEntry(reservations.list, input, {
        options,
        entries: (page) => page.reservations,
        next: (page) => page.nextCursor,
      }),
  };
}
