/** A stretch drawn with the pointer over an element, in pixels from its left edge. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { PointerEvent } from "react";

/** Where a drag began and where it is. */
export interface Drag {
  readonly from: number;
  readonly to: number;
}

/** A press that moves less than this is no drag. */
const LEAST_PX = 5;

/**
 * @param onDrawn told once, when the pointer lets go; Escape ends a drag without it
 */
export function useDrag(onDrawn: ((drag: Drag) => void) | undefined): {
  readonly drag: Drag | null;
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
} {
  const [drag, setDrag] = useState<Drag | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);

  const onPointerDown = useCallback(
    (event: PointerEvent<HTMLElement>) => {
      // A finger scrolls; only a bare spot of the element itself begins a drag.
      if (!onDrawn || event.button !== 0 || event.pointerType === "touch") return;
      if (event.target !== event.currentTarget) return;
      const edge = event.currentTarget.getBoundingClientRect();
      const inside = (x: number): number => Math.min(edge.width, Math.max(0, x - edge.left));
      const from = inside(event.clientX);
      const move = ({ clientX }: globalThis.PointerEvent): void =>
        setDrag({ from, to: inside(clientX) });
      const end = (): void => {
        listening.abort();
        stop.current = null;
        setDrag(null);
      };
      const up = ({ clientX }: globalThis.PointerEvent): void => {
        end();
        const to = inside(clientX);
        if (Math.abs(to - from) >= LEAST_PX) onDrawn({ from, to });
      };
      const listening = new AbortController();
      const { signal } = listening;
      globalThis.addEventListener("pointermove", move, { signal });
      globalThis.addEventListener("pointerup", up, { signal });
      globalThis.addEventListener("pointercancel", end, { signal });
      globalThis.addEventListener("keydown", ({ key }) => key === "Escape" && end(), { signal });
      stop.current = end;
      event.preventDefault();
    },
    [onDrawn],
  );
  return { drag, onPointerDown };
}
