/** One tenant's live events, cut again and again and resumed where it was. */
import { setTimeout as delay } from "node:timers/promises";

export interface Watcher {
  readonly tenantId: string;
  /** Ids of the events, as they came; whoever has looked at them may take them away. */
  readonly seen: string[];
  cuts(): number;
  /** Resolves once that event has come, or any number of those after it; then the stream ends. */
  finish(last: string | null, ms: number): Promise<boolean>;
}

export interface WatchPlan {
  /** Any of them: each connection takes the next one. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly tenantId: string;
  /** Events after this one. */
  readonly cursor: string | null;
  /** How long a connection lasts. */
  cutAfterMs(): number;
}

/** Ids that a watcher remembers after they were taken away. */
const REMEMBERED = 5_000;

/** Starts at once; a connection that cannot be made or is lost is made again, on the next server. */
export function watch(plan: WatchPlan): Watcher {
  const { tenantId, urls } = plan;
  const seen: string[] = [];
  const recent = new Set<string>();
  const stop = new AbortController();
  let cursor = plan.cursor;
  let connections = 0;
  const note = (id: string): void => {
    seen.push(id);
    recent.add(id);
    if (recent.size <= REMEMBERED) return;
    for (const oldest of recent) {
      recent.delete(oldest);
      break;
    }
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      const url = urls[connections % urls.length] ?? "";
      connections += 1;
      const cut = AbortSignal.any([stop.signal, AbortSignal.timeout(plan.cutAfterMs())]);
      try {
        for await (const { id, data } of connect(url, plan, { cursor, cut })) {
          cursor = id;
          note((JSON.parse(data) as { id: string }).id);
        }
      } catch (error) {
        if (!cut.aborted) await delay(100);
        if (error instanceof Refused) throw error;
      }
    }
  })();
  return {
    tenantId,
    seen,
    cuts: () => connections - 1,
    async finish(last, ms) {
      const until = performance.now() + ms;
      const reached = (): boolean => last === null || recent.has(last);
      while (!reached() && performance.now() < until) await delay(50);
      stop.abort();
      await running;
      return reached();
    },
  };
}

class Refused extends Error {}

async function* connect(
  url: string,
  { token, tenantId }: WatchPlan,
  at: { readonly cursor: string | null; readonly cut: AbortSignal },
): AsyncGenerator<{ id: string; data: string }> {
  const resume = at.cursor === null ? {} : { "last-event-id": at.cursor };
  const answer = await fetch(`${url}/api/compute/events/stream?tenantId=${tenantId}`, {
    headers: { authorization: `Bearer ${token}`, ...resume },
    signal: at.cut,
  });
  if (!answer.ok || !answer.body) {
    const said = `the stream answered ${answer.status}`;
    // A server that has just started, is about to end or has too much to do says so.
    throw answer.status >= 500 || answer.status === 408 ? new Error(said) : new Refused(said);
  }
  let text = "";
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const event = readFrame(frame);
      if (event) yield event;
    }
  }
}

/** Comments and events without an id are heartbeats and the like. */
function readFrame(frame: string): { id: string; data: string } | null {
  const field = (name: string): string[] =>
    frame
      .split("\n")
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart());
  const [id] = field("id");
  const data = field("data").join("\n");
  return id === undefined || data === "" ? null : { id, data };
}
