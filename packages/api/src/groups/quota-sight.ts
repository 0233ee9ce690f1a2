/** What a tenant may know of the quota row that it draws on. */

export interface QuotaSight {
  readonly max: number | null;
  readonly used: number | null;
  readonly remaining: number | null;
}

/** Its own row: all of it. A descendant draws on another tenant's row, and learns only what is left of it. */
export function quotaSight(
  { max, used }: { readonly max: number; readonly used: number },
  descendant: boolean,
): QuotaSight {
  return descendant
    ? { max: null, used: null, remaining: Math.max(0, max - used) }
    : { max, used, remaining: null };
}
