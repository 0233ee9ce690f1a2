/** Which theme is shown: a canvas has to be drawn again for another one. */
import { useSyncExternalStore } from "react";

const DARK = "(prefers-color-scheme: dark)";

function subscribe(listener: () => void): () => void {
  const media = matchMedia(DARK);
  media.addEventListener("change", listener);
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    media.removeEventListener("change", listener);
    observer.disconnect();
  };
}

/** `light` or `dark`, as chosen or as the system has it. */
export function useTheme(): string {
  return useSyncExternalStore(
    subscribe,
    () =>
      document.documentElement.dataset["theme"] ?? (matchMedia(DARK).matches ? "dark" : "light"),
  );
}
