/** What a server that is Berth's says, told from what says something in its place or breaks off. */

/** No server answered. */
export class Unreached extends Error {}

/** Something answered that does not speak Berth's wire: a gateway, a proxy, another server. */
export class ForeignAnswer extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** It wants the request sent to another address. */
  readonly elsewhere: boolean;

  constructor(response: Response) {
    const elsewhere = isElsewhere(response);
    super(elsewhere ? sentElsewhere(response) : unlikeBerth(response));
    this.elsewhere = elsewhere;
    this.status = response.status;
    this.headers = response.headers;
  }
}

function unlikeBerth({ url, status }: Response): string {
  return `${url || "the server"} answered HTTP ${status}, and not as Berth does`;
}

/** A browser tells nothing of a redirect that it was told not to follow. */
function isElsewhere({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

function sentElsewhere({ url, headers }: Response): string {
  const to = headers.get("location") ?? "";
  const where = URL.canParse(to, url || undefined)
    ? ` to ${new URL(to, url || undefined).origin}`
    : "";
  return `the server sends callers on${where}, where no token is sent: if it has moved, give its new address as url`;
}

/** The connection was not made, or broke. */
export function unreached(url: string, cause: unknown): Unreached {
  const code = codeOf(cause);
  const why = code === undefined ? "" : ` (${code})`;
  return new Unreached(`${new URL(url).origin} was not reached${why}`, { cause });
}

/** The body, read. @throws ForeignAnswer when it is not of Berth's wire */
export function wireOf(response: Response, body: string): object {
  const parsed = parse(body);
  if (!isWire(parsed)) throw new ForeignAnswer(response);
  return parsed;
}

const CAUSES_MAX = 8;

/** What the system calls the failure, such as ECONNREFUSED: `fetch` buries it. Undefined in a browser. */
function codeOf(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    cause = cause.cause;
  }
  return undefined;
}

/** Undefined for what is no JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** An envelope of tRPC, a list of them, or an error told before tRPC saw the call. */
function isWire(body: unknown): body is object {
  if (Array.isArray(body)) return body.length > 0 && body.every(isWire);
  return (
    typeof body === "object" &&
    body !== null &&
    ("result" in body || "error" in body || "code" in body)
  );
}
