/** The same for `vite dev`, which asks for it by this name. */
import { jsxDEV as make } from "react/jsx-dev-runtime";
import { shown } from "./jsx-runtime.ts";

export { Fragment } from "react/jsx-dev-runtime";
export type { JSX } from "react/jsx-dev-runtime";

export const jsxDEV: typeof make = (type, props, ...rest) => make(type, shown(props), ...rest);
