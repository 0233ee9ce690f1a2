/**
 * The issuer's keys as this process knows them. They are read again when a call comes after `REFRESH_MS`, or
 * with a key that is not among them; whatever the reason, `COOLDOWN_MS` lie between two attempts. While the
 * issuer cannot be asked what is known holds, but not past `BELIEVED_MS`: by then a key that was taken out of
 * the set could still be believed, so nobody is, and calls are UNAVAILABLE. No timer runs: calls drive it all.
 */
import { type LocalJWKSet, createLocalJWKSet } from "jose";
import { ApiError } from "../../errors.ts";
import type { Log } from "../../call.ts";
import { discover, fetchKeys } from "./discovery.ts";
import { IssuerContradiction, IssuerUnreachable } from "./fetch-json.ts";
import type { OidcSettings } from "./settings.ts";

/** Discovery and keys together, a slow drip included. */
export const FETCH_MS = 3_000;
export const COOLDOWN_MS = 30_000;
export const REFRESH_MS = 300_000;
/** A key that left the set is refused within this, come what may. */
export const BELIEVED_MS = 600_000;

/** One set of keys; another object as soon as the issuer's set differs. */
export interface KeySet {
  readonly find: LocalJWKSet;
}

export interface IssuerKeys {
  /** Reads them a first time. An issuer that is away is logged and met later. @throws IssuerContradiction */
  start(): Promise<void>;
  /** The set to check with. @throws ApiError UNAVAILABLE when there is none that may be believed */
  current(): Promise<KeySet>;
  /** A set that differs from this one, which lacks a key; null = the key is nobody's. @throws ApiError UNAVAILABLE when that cannot be known */
  newerThan(known: KeySet): Promise<KeySet | null>;
}

interface Options {
  readonly settings: OidcSettings;
  readonly log: Log;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
}

export function createIssuerKeys(options: Options): IssuerKeys {
  return new Keys(options);
}

class Keys implements IssuerKeys {
  readonly #options: Options;
  #known: { readonly set: KeySet; readonly text: string; readonly readAt: number } | null = null;
  #attemptedAt = -Infinity;
  /** Whether the last attempt read the set. */
  #reached = false;
  #attempting: Promise<void> | null = null;
  /** Where the keys are, once discovery said so. */
  #location: URL | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#attemptedAt = this.#options.elapsed();
    await this.#read().catch((error: unknown) => {
      if (error instanceof IssuerContradiction) throw error;
      this.#missed(error);
    });
  }

  async current(): Promise<KeySet> {
    if (this.#age() < REFRESH_MS) return this.#believed();
    const attempt = this.#attempt();
    // Nobody waits for an issuer while what is known still holds.
    if (this.#age() >= BELIEVED_MS) await attempt;
    return this.#believed();
  }

  async newerThan(known: KeySet): Promise<KeySet | null> {
    await this.#attempt();
    const set = this.#believed();
    if (set !== known) return set;
    if (!this.#reached) throw unavailable();
    return null;
  }

  #age(): number {
    return this.#known ? this.#options.elapsed() - this.#known.readAt : Infinity;
  }

  #believed(): KeySet {
    if (!this.#known || this.#age() >= BELIEVED_MS) throw unavailable();
    return this.#known.set;
  }

  /** However many ask, one reads; never rejects. */
  #attempt(): Promise<void> {
    if (this.#attempting) return this.#attempting;
    const now = this.#options.elapsed();
    if (now - this.#attemptedAt < COOLDOWN_MS) return Promise.resolve();
    this.#attemptedAt = now;
    this.#attempting = this.#read()
      .catch((error: unknown) => this.#missed(error))
      .finally(() => (this.#attempting = null));
    return this.#attempting;
  }

  async #read(): Promise<void> {
    const { settings, elapsed } = this.#options;
    const readAt = elapsed();
    const deadline = AbortSignal.timeout(FETCH_MS);
    this.#location ??= settings.jwksUri
      ? new URL(settings.jwksUri)
      : await discover(settings, deadline);
    const keys = await fetchKeys(this.#location, deadline);
    const text = JSON.stringify(keys);
    const same = this.#known?.text === text ? this.#known.set : null;
    this.#known = { set: same ?? { find: createLocalJWKSet(keys) }, text, readAt };
    this.#reached = true;
  }

  #missed(error: unknown): void {
    this.#reached = false;
    // Perhaps they have moved.
    this.#location = null;
    const known = error instanceof IssuerUnreachable || error instanceof IssuerContradiction;
    const why = known ? error.message : String(error);
    const keysAgeSeconds = this.#known ? Math.round(this.#age() / 1_000) : null;
    this.#options.log.warn({ why, keysAgeSeconds }, "the issuer's keys could not be read");
  }
}

function unavailable(): ApiError {
  return new ApiError("UNAVAILABLE", {
    message:
      "The issuer of this token cannot be asked for its keys right now; try again in a moment.",
    internal: "keys-unknown",
  });
}
