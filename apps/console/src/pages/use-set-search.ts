/** Changes some of a page's address: filters, tabs, the window, the selection. */
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** A part of an address; undefined takes it away. */
export type Change<S> = { readonly [K in keyof S]?: S[K] | undefined } & {
  readonly rsv?: string | undefined;
};

/** The same function at every render. A filter is no step of its own in the history. */
export function useSetSearch<S>(): (change: Change<S>) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) =>
      void navigate({
        to: ".",
        search: (before) =>
          Object.fromEntries(
            Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined),
          ),
        replace: true,
      }),
    [navigate],
  );
}
