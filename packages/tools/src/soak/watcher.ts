/** One tenant's live events, cut again and again and resumed where it was. */
import { setTimeout as delay } from "node:timers/promises";

export interface Watcher {
  /** Ids of the events, as they came. */
  readonly seen: string[];
  cuts(): number;
  /** Resolves once `last` was seen, or after `ms`; then the stream ends. */
  finish(last: string | undefined, ms: number): Promise<void>;
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

/** Starts at once; a connection that cannot be made or is lost is made again, on the next server. */
export function watch(plan: WatchPlan): Watcher {
  const seen: string[] = [];
  const stop = new AbortController();
  let cursor = plan.cursor;
  let connections = 0;
  const running = (async () => {
    while (!stop.signal.aborted) {
      const url = plan.urls[connections % plan.urls.length] ?? "";
      connections += 1;
      const cut = AbortSignal.any([stop.signal, AbortSignal.timeout(plan.cutAfterMs())]);
      try {
        for await (const { id, data } of connect(url, plan, { cursor, cut })) {
          cursor = id;
          seen.push((JSON.parse(data) as { id: string }).id);
        }
      } catch (error) {
        if (!cut.aborted) await delay(100);
        if (error instanceof Refused) throw error;
      }
    }
  })();
  return {
    seen,
    cuts: () => connections - 1,
    async finish(last, ms) {
      const until = performance.now() + ms;
      while (last !== undefined && !seen.includes(last) && performance.now() < until)
        await delay(50);
      stop.abort();
      await running;
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
  if (!answer.ok || !answer.body) throw new Refused(`the stream answered ${answer.status}`);
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
