/**
 * One call of a method, whatever brought it: who calls, then what is asked, then the chain in authorize.ts, then the
 * answer as the contract has it. Every surface runs this one function. tRPC's own steps for the same copy the call
 * field by field before each of them, which cost more than all that is done here.
 */
import { type CatalogRow, inputIssues, schemasOf } from "@berth/contract";
import { tracked } from "@trpc/server";
import { z } from "zod";
import { type AnyHandler, authorized } from "./authorize.ts";
import type { Call, Deps, Method } from "./call.ts";
import { type ApiError, fromIssues, logFields, toApiError } from "./errors.ts";
import type { Step } from "./feed/watcher.ts";
import { inTime, patienceOf } from "./in-time.ts";
import { checkInputSize } from "./input-size.ts";
import { parseNodes } from "./parse-nodes.ts";
import type { ApiContext } from "./trpc.ts";

/** What a surface hands over of one call. */
export interface Asked {
  readonly ctx: ApiContext;
  /** Read only after the caller is known. */
  readonly rawInput: () => Promise<unknown>;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
}

/** The method's output; a stream of steps for a subscription. @throws ApiError, and nothing else */
export type Perform = (asked: Asked) => Promise<unknown>;

/** What the contract and the handlers have of one method. */
export interface Whole {
  readonly method: Method;
  readonly row: CatalogRow;
  readonly handler: AnyHandler;
}

/** Authentication stands before everything: an input is not even parsed for a caller without a key. */
export function performing(deps: Deps, whole: Whole): Perform {
  const { method, row } = whole;
  const { output } = schemasOf(method);
  const take = taking(method);
  const perform: Perform = async ({ ctx, rawInput, signal }) => {
    const principal = await ctx.authenticate();
    const raw = await rawInput();
    checkInputSize(method, raw);
    const input = await take(raw);
    const run = (until: AbortSignal | undefined): Promise<unknown> =>
      authorized({
        ...whole,
        call: callOf({ deps, method, principal, ctx, signal: until }),
        input,
      });
    if (row.kind === "subscription") return stream(await run(signal));
    return output.parse(await inTime(patienceOf(method, input), run, signal));
  };
  return async (asked) => {
    const { ctx } = asked;
    try {
      return await (ctx.around ? ctx.around(method, () => perform(asked)) : perform(asked));
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.code === "INTERNAL" || error.code === "UNAVAILABLE") logFailure(error, ctx, method);
      throw error;
    }
  };
}

/** Some take their turns with other calls, and answer a promise. */
type Taking = (raw: unknown) => unknown;

/** @throws ApiError INVALID_INPUT with the first issues */
function taking(method: Method): Taking {
  if (method === "fleet.putNodes")
    return (raw) =>
      parseNodes(raw).catch((thrown: unknown) => {
        throw thrown instanceof z.ZodError ? fromIssues(inputIssues(thrown)) : thrown;
      });
  const { input } = schemasOf(method);
  return (raw) => {
    const parsed = input.safeParse(raw);
    if (parsed.success) return parsed.data;
    throw fromIssues(inputIssues(parsed.error));
  };
}

type Calling = Pick<Call, "deps" | "method" | "principal" | "signal"> & {
  readonly ctx: ApiContext;
};

const nothing = (): void => undefined;

function callOf({ ctx, ...call }: Calling): Call {
  const { requestId, answer, ifMatch, reauthenticate, hangUp = nothing } = ctx;
  const { resting = () => nothing } = ctx;
  const recheck = async (): Promise<void> => void (await reauthenticate());
  return { ...call, requestId, answer, ifMatch, recheck, hangUp, resting };
}

/** Each step with its cursor as the id that a broken stream is resumed with. */
function stream(steps: unknown): AsyncIterableIterator<Tracked, undefined> {
  // Only a subscription's handler gets here, and its type says what it answers.
  const source = steps as AsyncIterableIterator<Step, undefined>;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const { done, value } = await source.next();
      return done ? { done, value } : { done: false, value: tracked(value.cursor, value.event) };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

type Tracked = ReturnType<typeof tracked<Step["event"]>>;

/** What was unexpected is logged here, once. */
function logFailure(error: ApiError, ctx: ApiContext, method: string): void {
  const fields = { requestId: ctx.requestId, method, ...logFields(error) };
  if (error.code === "INTERNAL") ctx.log.error(fields, "a call failed");
  // Nothing is wrong with the server, and callers hang up as often as they like.
  else if (error.cause instanceof Error && error.cause.name === "Cancelled")
    ctx.log.info({ requestId: ctx.requestId, method }, "the caller went away before the answer");
  else ctx.log.warn(fields, "a call could not be answered");
}
