/** For tests only: every rule of the groups capacity and pools with values on either side of it. */
export { ABSENT, SAMPLE, boundaryName, boundaryRequest, goodRequest, stepsOf } from "./boundary.ts";
export type { Boundary } from "./boundary.ts";
export { BOUNDARIES } from "./boundaries.ts";
