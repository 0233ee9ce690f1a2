/** Drawing a booking on the lanes with keys: B begins, arrows move it, Enter books it, Escape leaves it. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { begin, changed, inSight } from "./draft.ts";
import type { Draft } from "./draft.ts";
import type { Lane, StackedLane, TimeWindow } from "./model.ts";

interface Drawing {
  readonly stacked: readonly StackedLane[];
  readonly active: { readonly laneId: string; readonly spanId: string } | null;
  readonly window: TimeWindow;
  readonly now: number;
  readonly virtual: Virtualizer<HTMLDivElement, HTMLDivElement>;
  readonly box: { readonly current: HTMLDivElement | null };
  onWindow(window: TimeWindow): void;
  readonly onDraw?: ((lane: Lane, window: TimeWindow) => void) | undefined;
}

export interface Drawn {
  readonly draft: Draft | null;
  /** Answers whether the key was one of the drawing's. */
  readonly onKey: (event: KeyboardEvent<HTMLElement>) => boolean;
  readonly book: () => void;
  /** Without a move of the focus: it has gone elsewhere already. */
  readonly drop: () => void;
}

export function useDraft(drawing: Drawing): Drawn {
  const { box, now, onDraw, onWindow, stacked, virtual, window } = drawing;
  const [draft, setDraft] = useState<Draft | null>(null);
  const back = useRef<HTMLElement | null>(null);
  const show = (next: Draft): void => {
    setDraft(next);
    virtual.scrollToIndex(next.at, { align: "auto" });
    const sight = inSight(next.window, window);
    if (sight !== window) onWindow(sight);
  };
  const leave = (): void => {
    setDraft(null);
    const { current } = back;
    (current?.isConnected ? current : box.current)?.focus({ preventScroll: true });
  };
  const book = (): void => {
    const lane = draft && stacked[draft.at]?.lane;
    if (lane && draft) onDraw?.(lane, draft.window);
  };
  const start = (): void => {
    back.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    show(begin(...placeOf(drawing), window));
  };
  const onKey = (event: KeyboardEvent<HTMLElement>): boolean => {
    if (onDraw === undefined || stacked.length === 0) return false;
    if (draft === null) {
      if (!isBegin(event)) return false;
      start();
      event.preventDefault();
      return true;
    }
    if (event.key === "Escape") leave();
    else {
      const next = changed(draft, event, { lanes: stacked.length, shown: window, now });
      if (next === null) return false;
      show(next);
    }
    event.preventDefault();
    return true;
  };
  return { draft, onKey, book, drop: () => setDraft(null) };
}

function isBegin({ altKey, ctrlKey, key, metaKey }: KeyboardEvent<HTMLElement>): boolean {
  return key.toLowerCase() === "b" && !altKey && !ctrlKey && !metaKey;
}

/** After the bar that has the focus; else on the first lane in sight, from now on. */
function placeOf({ active, now, stacked, virtual }: Drawing): [at: number, from: number] {
  const at = stacked.findIndex(({ lane }) => lane.id === active?.laneId);
  const span = stacked[at]?.spans.find((each) => each.span.id === active?.spanId)?.span;
  if (at === -1) return [virtual.getVirtualItems()[0]?.index ?? 0, now];
  return [at, Math.max(now, span?.end ?? now)];
}
