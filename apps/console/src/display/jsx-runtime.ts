/**
 * React's runtime of elements, with `displayText` before it: what the console's own components put on the page as
 * text, as a title or as a name is shown by it, so that no component can forget to (ADR 0253). Values of fields and
 * what is copied stay as they are.
 */
import { jsx as make, jsxs as makeAll } from "react/jsx-runtime";
import { displayText } from "./display-text.ts";

export { Fragment } from "react/jsx-runtime";
export type { JSX } from "react/jsx-runtime";

type Make = typeof make;
type Props = Readonly<Record<string, unknown>>;

export const jsx: Make = (type, props, key) => make(type, shown(props), key);
export const jsxs: Make = (type, props, key) => makeAll(type, shown(props), key);

/** Attributes that are read out or shown. */
const SHOWN = ["title", "aria-label", "alt", "placeholder", "aria-roledescription"];

export function shown(given: unknown): unknown {
  const props = given as Props;
  let clean: Record<string, unknown> | null = null;
  const { children } = props;
  const kept = childrenOf(children);
  if (kept !== children) clean = { ...props, children: kept };
  for (const name of SHOWN) {
    const text = props[name];
    if (typeof text !== "string") continue;
    const safe = displayText(text);
    if (safe !== text) clean = { ...(clean ?? props), [name]: safe };
  }
  return clean ?? props;
}

/** The same object where nothing is changed: memo and React's own checks see no difference. */
function childrenOf(children: unknown): unknown {
  if (typeof children === "string") return displayText(children);
  if (!Array.isArray(children)) return children;
  const list: readonly unknown[] = children;
  // Copied only where something changes: every element of every page comes by here.
  let kept: unknown[] | null = null;
  for (let at = 0; at < list.length; at += 1) {
    const child = childrenOf(list[at]);
    if (child !== list[at]) (kept ??= [...list])[at] = child;
  }
  return kept ?? children;
}
