/**
 * What the engine does for traced calls, as spans: the wait for a decision, reads of a pool, and the batch that
 * decided, with its planning and its gated write. Calls outside of a trace, such as the worker's own, cost nothing.
 */
import { type Span, SpanKind } from "@opentelemetry/api";
import type { BatchFacts, Engine } from "@berth/engine";
import {
  ATTR_DB_OPERATION_BATCH_SIZE,
  ATTR_DB_STORED_PROCEDURE_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
} from "@opentelemetry/semantic-conventions";
import { type Spans, fail } from "./spans.ts";

/** By command: the span of the call's wait for its decision. */
type Submitted = WeakMap<object, Span>;

export function tracedEngine(engine: Engine, spans: Spans, submitted: Submitted): Engine {
  /** The work under a span of its own, when it is somebody's whom we follow. */
  const under = async <T>(
    name: string,
    gateId: string,
    work: (span: Span | null) => Promise<T>,
  ) => {
    const parent = spans.active();
    if (!parent?.isRecording()) return work(null);
    const span = spans.start(name, { parent, attributes: { "berth.gate_id": gateId } });
    try {
      return await spans.within(span, () => work(span));
    } catch (error) {
      fail(span, error instanceof Error ? error.name : "unknown");
      throw error;
    } finally {
      span.end();
    }
  };
  return {
    get serverId() {
      return engine.serverId;
    },
    get waiting() {
      return engine.waiting;
    },
    submit: (gateId, command) =>
      under("pool.submit", gateId, (span) => {
        if (span === null) return engine.submit(gateId, command);
        // One command may be submitted twice, and each has a span of its own.
        const own = { ...command };
        submitted.set(own, span);
        return engine.submit(gateId, own);
      }),
    read: (gateId, read) => under("pool.read", gateId, () => engine.read(gateId, read)),
    wait: (wait, signal) => under("pool.wait", wait.waiter.poolId, () => engine.wait(wait, signal)),
    move: (move) => under("pool.move", move.to, () => engine.move(move)),
    settle: (gateIds) =>
      gateIds.length === 1
        ? under("pool.settle", gateIds[0] ?? "", () => engine.settle(gateIds))
        : engine.settle(gateIds),
    endWaits: () => engine.endWaits(),
    rebuild: (gateId) => engine.rebuild(gateId),
    start: () => engine.start(),
    stop: () => engine.stop(),
  };
}

/**
 * A batch decides calls of many traces. Its span is in the trace of the first of them; every call that waited for
 * it is linked to it, and it to them, so it is one click away from each.
 */
export function batchSpans(spans: Spans, submitted: Submitted): (facts: BatchFacts) => void {
  return (facts) => {
    const waited = facts.commands.flatMap((command) => submitted.get(command) ?? []);
    const [parent, ...others] = waited;
    if (!parent) return;
    const ended = Date.now();
    const wrote = ended - facts.writeMs;
    const planned = wrote - facts.planMs;
    const attributes = { "berth.gate_id": facts.gateId, "berth.batch.size": facts.size };
    const batch = spans.start("engine.batch", { parent, attributes, startTime: planned });
    for (const other of others) batch.addLink({ context: other.spanContext() });
    for (const each of others) each.addLink({ context: batch.spanContext() });
    spans.start("engine.plan", { parent: batch, startTime: planned }).end(wrote);
    const write = spans.start("gate.write", {
      parent: batch,
      kind: SpanKind.CLIENT,
      startTime: wrote,
      attributes: {
        [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL,
        [ATTR_DB_STORED_PROCEDURE_NAME]: "berth_apply_v1",
        ...(facts.size > 1 ? { [ATTR_DB_OPERATION_BATCH_SIZE]: facts.size } : {}),
        "berth.gate.outcome": facts.outcome,
      },
    });
    if (facts.outcome !== "ok") write.setAttribute(ATTR_ERROR_TYPE, facts.outcome);
    write.end(ended);
    batch.end(ended);
  };
}
