/**
 * One JSON document from the issuer, under bounds that hold whatever it answers: no redirect is followed, no
 * more than `BODY_MAX` is read, and all of it ends with the caller's deadline, a body that drips included.
 */

/** 256 kB. */
export const BODY_MAX = 262_144;

/** Why the issuer could not be asked; its text is for the log. */
export class IssuerUnreachable extends Error {
  constructor(why: string) {
    super(why);
    this.name = "IssuerUnreachable";
  }
}

/** The issuer says what cannot be followed; nobody but the operator can put that right. */
export class IssuerContradiction extends Error {
  constructor(why: string) {
    super(why);
    this.name = "IssuerContradiction";
  }
}

/** @throws IssuerUnreachable, IssuerContradiction for a redirect */
export async function fetchJson(url: URL, deadline: AbortSignal): Promise<unknown> {
  let text: string;
  try {
    text = await fetchText(url, deadline);
  } catch (error) {
    if (error instanceof IssuerContradiction || error instanceof IssuerUnreachable) throw error;
    throw new IssuerUnreachable(
      deadline.aborted
        ? `${at(url)} took too long`
        : `${at(url)} cannot be reached${codeOf(error)}`,
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new IssuerUnreachable(`${at(url)} answered what is not JSON`);
  }
}

async function fetchText(url: URL, signal: AbortSignal): Promise<string> {
  const headers = { accept: "application/json", "accept-encoding": "identity" };
  const response = await fetch(url, { redirect: "manual", headers, signal });
  if (response.status === 200) return limited(url, response);
  await response.body?.cancel();
  const redirects = response.status >= 300 && response.status < 400;
  if (redirects) throw new IssuerContradiction(`${at(url)} redirects, and is not followed`);
  throw new IssuerUnreachable(`${at(url)} answered ${response.status}`);
}

async function limited(url: URL, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Left early, the loop cancels the rest.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > BODY_MAX)
      throw new IssuerUnreachable(`${at(url)} answered more than ${BODY_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Without a query: nothing that an operator may have put there is logged. */
const at = (url: URL) => url.origin + url.pathname;

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "" ? "" : ` (${code})`;
}
