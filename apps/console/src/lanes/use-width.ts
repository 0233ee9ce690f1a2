/** How wide an element is, as it is laid out now. */
import { useCallback, useState } from "react";

/** 0 until the element is there. Give `ref` to the element. */
export function useWidth(): readonly [
  (element: HTMLElement | null) => (() => void) | void,
  number,
] {
  const [width, setWidth] = useState(0);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
