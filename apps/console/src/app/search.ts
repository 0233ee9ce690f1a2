/** Hand-made validators for search parameters: what is no text, number or word of the list is left out. */

type Raw = Readonly<Record<string, unknown>>;

export function textOf(raw: Raw, name: string): string | undefined {
  const value = raw[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(raw: Raw, name: string): number | undefined {
  const value = raw[name];
  const parsed = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : undefined;
}

/** Later ones no calendar of ours can show. */
export const LATEST = Date.UTC(2200, 0);

/** An instant, milliseconds since the epoch; an address may also say it as a date. */
export function instantOf(raw: Raw, name: string): number | undefined {
  const at = numberOf(raw, name);
  return at !== undefined && Number.isInteger(at) && at >= 0 && at < LATEST ? at : undefined;
}

export function wordOf<T extends string>(
  raw: Raw,
  name: string,
  words: readonly T[],
): T | undefined {
  return words.find((word) => word === raw[name]);
}

/** Whether it is there and true. */
export function flagOf(raw: Raw, name: string): true | undefined {
  return raw[name] === true || raw[name] === "true" || raw[name] === 1 ? true : undefined;
}

/** Without what is undefined: an address names what differs, and nothing else. */
export function defined<T extends object>(
  search: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/**
 * What an address carries and nothing besides: the router lays what is checked over what was given, so what was
 * refused is to be named as absent.
 */
export function only<T extends object>(check: (raw: Raw) => T, kept: readonly string[] = []) {
  return (raw: Raw): T => {
    const names = Object.keys(raw).filter((name) => !kept.includes(name));
    return { ...Object.fromEntries(names.map((name) => [name, undefined])), ...check(raw) };
  };
}

/** What every page's address may carry. */
export interface RootSearch {
  /** The tenant that the page is about. */
  readonly tenant?: string | undefined;
  /** The selected reservation: opens its facts and lights it up on map and lanes. */
  readonly rsv?: string | undefined;
}

export function rootSearch(raw: Raw): RootSearch {
  // Named also when they are refused: the pages' own parameters are not this one's to check.
  return { tenant: textOf(raw, "tenant"), rsv: textOf(raw, "rsv") };
}
