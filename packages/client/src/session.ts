/** What all calls of one client share: where they go, what they say of themselves, and who is told. */
import { addressOf } from "./address.ts";
import { clientName } from "./client-name.ts";
import { createTeller } from "./hooks.ts";
import type { Teller } from "./hooks.ts";
import { completed } from "./options.ts";
import type { BerthOptions } from "./options.ts";
import { createVersionCheck, createWarn } from "./warning.ts";

export interface Session {
  readonly options: BerthOptions;
  /** The server's address without a slash at its end. */
  readonly address: string;
  /** Whether another token may come where this one is refused. */
  readonly hasTokenFunction: boolean;
  readonly tell: Teller;
  /** The one fetch: follows no redirect. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /**
   * What is sent beside a request. Asks for the token.
   *
   * @param own the request's own headers
   */
  headers(own: Readonly<Record<string, string>>): Promise<Record<string, string>>;
}

/** @throws TypeError for a url that is no address */
export function createSession(given: BerthOptions): Session {
  const options = completed(given);
  const warn = createWarn(options);
  const checkVersion = createVersionCheck(warn);
  const name = clientName(options.appInfo);
  return {
    options,
    address: addressOf(options.url),
    hasTokenFunction: typeof options.token === "function",
    tell: createTeller(options.hooks, warn),
    async fetch(url, init) {
      const fetch = options.fetch ?? globalThis.fetch;
      // A redirect is not followed: the request and its token are for the server that was named, and for no other.
      const response = await fetch(url, { ...init, redirect: "manual" });
      checkVersion(response.headers);
      return response;
    },
    async headers(own) {
      const token = typeof options.token === "function" ? await options.token() : options.token;
      const headers = {
        "berth-client": name,
        ...options.headers,
        ...own,
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      };
      for (const [header, value] of Object.entries(headers)) {
        // `fetch` would show the whole value in its message.
        if (!/^[\t\x20-\x7e]*$/.test(value))
          throw new TypeError(`${named(header)} holds what no header can carry`);
      }
      return headers;
    },
  };
}

function named(header: string): string {
  return header === "authorization" ? "the token" : `the header ${header}`;
}
