/** One environment variable: what it may hold, and what people are told of it. */
import type { z } from "zod";

export interface Variable<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  /** What holds when it is not set, in words for `--help`. */
  readonly unset: string;
  readonly says: string;
}

export const variable = <T extends z.ZodType>(
  schema: T,
  unset: string,
  says: string,
): Variable<T> => ({ schema, unset, says });
