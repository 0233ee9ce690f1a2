export { derive } from "./derive.ts";
export { type Engine, type EngineDeps, type Move, createEngine } from "./engine.ts";
export {
  Cancelled,
  Elsewhere,
  Fenced,
  GateExists,
  KeyTaken,
  NoSuchGate,
  Overloaded,
  Unavailable,
} from "./errors.ts";
export {
  type BatchFacts,
  type Command,
  type Committed,
  type Correction,
  DEFAULT_OPTIONS,
  type EngineLog,
  type EngineObserver,
  type EngineOptions,
  type Read,
} from "./types.ts";
export type { Wait, Waited } from "./waits.ts";
