/** Where the server is. */

/** The server's address without a slash at its end. @throws TypeError that says what is wrong with it */
export function addressOf(url: unknown): string {
  const text = typeof url === "string" ? url : "";
  if (/^https?:\/\/[^/]/i.test(text) && isUrl(text))
    return withoutSurface(withoutPassword(text).replace(/\/+$/, ""));
  if (url === undefined)
    throw new TypeError(
      "createBerth needs url, or BERTH_URL in the environment: where is the server?",
    );
  // Whatever stands before an @ may be a password.
  const given = JSON.stringify(typeof url === "string" ? url.replace(/^.*@/s, "…@") : url);
  throw new TypeError(
    `createBerth needs url to be an http:// or https:// address such as "https://berth.internal", not ${given}`,
  );
}

/** `fetch` would refuse it as well, with the password in its message. */
function withoutPassword(text: string): string {
  const { username, password } = new URL(text);
  if (username === "" && password === "") return text;
  throw new TypeError(
    "createBerth needs url without a user or password in it: a key belongs into token, other headers into headers",
  );
}

/** The address of a surface answers every call as not found, which reads as a pool that is not there. */
function withoutSurface(address: string): string {
  const { origin, pathname } = new URL(address);
  const [surface] = /\/(?:trpc|api\/compute)$/.exec(pathname) ?? [];
  if (surface === undefined) return address;
  const server = `${origin}${pathname.slice(0, -surface.length)}`;
  throw new TypeError(
    `createBerth needs url to be where the server is, ${JSON.stringify(server)}, without ${surface} at its end`,
  );
}

function isUrl(text: string): boolean {
  try {
    return Boolean(new URL(text));
  } catch {
    return false;
  }
}
