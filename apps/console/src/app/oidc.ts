/**
 * Sign-in through the server's issuer: authorization code with PKCE, a public client, no secret. Between leaving and
 * coming back a verifier and the address to return to lie in sessionStorage.
 */
import type { Credentials } from "./credentials.ts";

/** What `/config.json` says of the issuer. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Which of the issuer's tokens the server takes. */
  readonly tokens: "access" | "id";
  /** What the token is to be for. */
  readonly audience: string;
  /** Where tokens are, as the server is told; null: where discovery says. */
  readonly tokenUri: string | null;
}

interface Discovery {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
}

interface Leave {
  readonly verifier: string;
  readonly state: string;
  readonly back: string;
}

const KEY = "berth.oidc";
const SCOPE = "openid profile email";
/** A token is renewed this long before it ends. */
const EARLY_MS = 30_000;

/** Null = only keys sign in. */
export async function oidcSettings(signal?: AbortSignal): Promise<OidcSettings | null> {
  const response = await fetch("/config.json", signal ? { signal } : {});
  if (!response.ok) throw new Error(`the server's settings: ${response.status}`);
  const { oidc } = (await response.json()) as { readonly oidc: OidcSettings | null };
  return oidc;
}

async function discover({ issuer }: OidcSettings): Promise<Discovery> {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error(`the issuer's discovery answered ${response.status}`);
  return (await response.json()) as Discovery;
}

/**
 * Where a token is got. The page may ask no other host than the server's policy names, so one that discovery alone names
 * is refused before anybody leaves, with what to set.
 */
function tokenEndpoint({ issuer, tokenUri }: OidcSettings, { token_endpoint }: Discovery): string {
  if (tokenUri !== null) return tokenUri;
  if (URL.parse(token_endpoint)?.origin === new URL(issuer).origin) return token_endpoint;
  throw new Error(
    `The issuer's token endpoint is not on the issuer's own host but is ${token_endpoint}. When that is right, whoever runs this server sets BERTH_OIDC_TOKEN_URI to it; until then sign in with a key.`,
  );
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** What the issuer is told of the verifier before it sees it: its SHA-256. */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

const redirectUri = (): string => `${location.origin}/sign-in`;

/** Leaves for the issuer; comes back to `/sign-in`, and from there to where it left. */
export async function leave(settings: OidcSettings): Promise<void> {
  const found = await discover(settings);
  tokenEndpoint(settings, found);
  const kept: Leave = {
    verifier: random(),
    state: random(),
    back: `${location.pathname}${location.search}`,
  };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
  const url = new URL(found.authorization_endpoint);
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: redirectUri(),
    scope: SCOPE,
    audience: settings.audience,
    state: kept.state,
    code_challenge: await challengeOf(kept.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.assign(url);
}

/**
 * What the issuer sent us back with, as credentials and where to go on. Null when this is no coming back.
 *
 * @throws Error with what the issuer said, or when the answer is not to our question
 */
export async function comeBack(
  settings: OidcSettings,
  answer: URLSearchParams,
): Promise<{ readonly credentials: Credentials; readonly back: string } | null> {
  const [code, state, error] = ["code", "state", "error"].map((name) => answer.get(name));
  if (!code && !error) return null;
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (error) throw new Error(answer.get("error_description") ?? error);
  const kept = text === null ? null : (JSON.parse(text) as Leave);
  if (!kept || !code || kept.state !== state)
    throw new Error("This answer is not to a sign-in that began here. Please begin again.");
  const credentials = await exchange(settings, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri(),
    code_verifier: kept.verifier,
  });
  return { credentials, back: kept.back.startsWith("/sign-in") ? "/" : kept.back };
}

type Token = Extract<Credentials, { kind: "oidc" }>;

/** Whether it is to be renewed before it is used. */
export function isEnding({ expiresAt }: Token): boolean {
  return expiresAt - EARLY_MS <= Date.now();
}

/** The next token, where the issuer gave the means; null: a person has to sign in again. */
export async function renewed(
  settings: OidcSettings,
  credentials: Token,
): Promise<Credentials | null> {
  if (credentials.refreshToken === null) return null;
  const { refreshToken } = credentials;
  return exchange(settings, { grant_type: "refresh_token", refresh_token: refreshToken });
}

interface TokenAnswer {
  readonly access_token?: string;
  readonly id_token?: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly error?: string;
  readonly error_description?: string;
}

async function exchange(
  settings: OidcSettings,
  parameters: Readonly<Record<string, string>>,
): Promise<Credentials> {
  const endpoint = tokenEndpoint(settings, await discover(settings));
  const response = await fetch(endpoint, {
    method: "POST",
    body: new URLSearchParams({ ...parameters, client_id: settings.clientId }),
  });
  const answer = (await response.json()) as TokenAnswer;
  const token = settings.tokens === "id" ? answer.id_token : answer.access_token;
  if (!response.ok || !token)
    throw new Error(
      answer.error_description ?? answer.error ?? `the issuer answered ${response.status}`,
    );
  return {
    kind: "oidc",
    token,
    expiresAt: Date.now() + (answer.expires_in ?? 300) * 1_000,
    refreshToken: answer.refresh_token ?? parameters["refresh_token"] ?? null,
  };
}
