/** An issuer of its own: discovery, keys, a sign-in page that says yes, and a token for who can prove the code is theirs. */
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const AUDIENCE = "berth";
export const CLIENT_ID = "console";

export interface Issuer {
  readonly url: string;
  /** What the token endpoint was asked for, in order. */
  readonly grants: readonly string[];
  /** Seconds that a token is good for. */
  lifetime: number;
  /** The token endpoint is said to be on another host. */
  isApart: boolean;
  close(): Promise<void>;
}

interface Signer {
  readonly jwk: object;
  token(claims: object): string;
}

/** @param claims who signs in, beside what every token has */
export async function startIssuer(claims: object): Promise<Issuer> {
  const keys = signer();
  const grants: string[] = [];
  const codes = new Map<string, string>();
  const state = { url: "", lifetime: 300, isApart: false };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", state.url);
    response.setHeader("access-control-allow-origin", "*");
    if (url.pathname === "/authorize") return authorize(url, response, codes);
    if (url.pathname === "/token")
      return void grant(request, codes).then((kind) => {
        if (kind !== null) grants.push(kind);
        json(
          response,
          kind === null ? 400 : 200,
          kind === null ? { error: "invalid_grant" } : answer(),
        );
      });
    return json(response, 200, url.pathname === "/keys" ? { keys: [keys.jwk] } : discovery());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const discovery = (): object => ({
    issuer: state.url,
    authorization_endpoint: `${state.url}/authorize`,
    token_endpoint: `${state.isApart ? apart(state.url) : state.url}/token`,
    jwks_uri: `${state.url}/keys`,
  });
  const answer = (): object => ({
    access_token: keys.token({
      ...claims,
      iss: state.url,
      aud: AUDIENCE,
      iat: Math.floor(Date.now() / 1_000),
      exp: Math.floor(Date.now() / 1_000) + 300,
    }),
    token_type: "Bearer",
    expires_in: state.lifetime,
    refresh_token: randomUUID(),
  });
  return {
    get url() {
      return state.url;
    },
    grants,
    get lifetime() {
      return state.lifetime;
    },
    set lifetime(seconds) {
      state.lifetime = seconds;
    },
    get isApart() {
      return state.isApart;
    },
    set isApart(apart) {
      state.isApart = apart;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The same machine by its other name: another origin to a browser. */
export function apart(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Whoever comes is let in at once; the code is kept with the challenge that it was asked for with. */
function authorize(url: URL, response: ServerResponse, codes: Map<string, string>): void {
  const parameter = (name: string): string => url.searchParams.get(name) ?? "";
  const code = randomUUID();
  codes.set(code, parameter("code_challenge"));
  const back = new URL(parameter("redirect_uri"));
  back.searchParams.set("code", code);
  back.searchParams.set("state", parameter("state"));
  response.writeHead(302, { location: back.href }).end();
}

/** The kind of the grant; null for a code that is not the caller's. */
async function grant(request: IncomingMessage, codes: Map<string, string>): Promise<string | null> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const form = new URLSearchParams(body);
  const kind = form.get("grant_type");
  if (form.get("client_id") !== CLIENT_ID) return null;
  if (kind === "refresh_token") return form.get("refresh_token") ? kind : null;
  const verifier = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const code = form.get("code") ?? "";
  const isTheirs = codes.get(code) === verifier;
  codes.delete(code);
  return isTheirs ? kind : null;
}

function signer(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const kid = randomUUID();
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" },
    token(claims) {
      const text = `${part({ alg: "RS256", kid, typ: "at+jwt" })}.${part(claims)}`;
      return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
    },
  };
}
