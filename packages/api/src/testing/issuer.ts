/**
 * An OIDC issuer of the test's own, on this machine: it publishes keys, signs tokens, and misbehaves where a
 * test says so. Every request that reaches it is on record.
 */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from "jose";
import type { OidcSettings } from "../access/oidc/settings.ts";

export const DISCOVERY = "/.well-known/openid-configuration";
export const KEYS = "/keys";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly private: CryptoKey;
  readonly public: JWK;
}

export interface SignOptions {
  readonly key?: SigningKey;
  /** Beside `alg` and `kid`; undefined leaves one of them out. */
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface FakeIssuer {
  readonly url: string;
  /** Paths asked for, oldest first. */
  readonly asked: string[];
  /** Settings that take its access tokens: tenant from `tenant`, roles from `roles`. */
  settings(changes?: Partial<OidcSettings>): OidcSettings;
  /** The key that signs when none is named: the newest one published. */
  key(): SigningKey;
  /** Makes a key and publishes it. */
  addKey(alg?: string): Promise<SigningKey>;
  /** Takes a key out of the set. */
  removeKey(kid: string): void;
  /** Claims of a good token, changed; undefined leaves one out. */
  claims(changes?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** A good token, but for the changes. */
  token(changes?: Readonly<Record<string, unknown>>, options?: SignOptions): Promise<string>;
  /** Answers this path so from now on; null = as it should be. */
  answer(path: string, how: Answer | null): void;
  close(): Promise<void>;
}

export const AUDIENCE = "https://berth.example.com";

/** A key pair that nobody has published. */
export async function signingKey(kid: string, alg = "RS256"): Promise<SigningKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, private: pair.privateKey, public: await exportJWK(pair.publicKey) };
}

/** @param now milliseconds since the epoch: when its tokens are made */
export async function fakeIssuer(now: () => number = Date.now): Promise<FakeIssuer> {
  const keys: SigningKey[] = [];
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  const published = () =>
    keys.map(({ kid, alg, public: jwk }) => ({ ...jwk, kid, alg, use: "sig" }));
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const how = answers.get(path);
    if (how) return how(request, response);
    if (path === DISCOVERY) return json(response, { issuer: url, jwks_uri: url + KEYS });
    if (path === KEYS) return json(response, { keys: published() });
    response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const newest = (): SigningKey => {
    const key = keys.at(-1);
    if (!key) throw new Error("the issuer has no key");
    return key;
  };
  const issuer: FakeIssuer = {
    url,
    asked,
    settings: (changes) => ({
      issuer: url,
      audience: AUDIENCE,
      jwksUri: null,
      algorithms: ["RS256", "ES256"],
      tokens: "access",
      tenantClaim: ["tenant"],
      roleClaims: [["roles"]],
      roleMap: null,
      ...changes,
    }),
    key: newest,
    async addKey(alg = "ES256") {
      const key = await signingKey(`key-${keys.length + 1}-${Math.random()}`, alg);
      keys.push(key);
      return key;
    },
    removeKey(kid) {
      const at = keys.findIndex((key) => key.kid === kid);
      if (at === -1) throw new Error(`the issuer has no key ${kid}`);
      keys.splice(at, 1);
    },
    claims(changes) {
      const seconds = Math.floor(now() / 1_000);
      const good = { iss: url, aud: AUDIENCE, sub: "ada", iat: seconds, exp: seconds + 3_600 };
      return { ...good, scope: "berth", tenant: "lab", roles: ["tenant-viewer"], ...changes };
    },
    token(changes, { key = newest(), header = {} } = {}) {
      return new SignJWT(issuer.claims(changes))
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
        .sign(key.private);
    },
    answer: (path, how) => void (how ? answers.set(path, how) : answers.delete(path)),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  await issuer.addKey();
  return issuer;
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export const redirect =
  (to: string): Answer =>
  (_request, response) =>
    void response.writeHead(302, { location: to }).end();

/** No answer: the connection breaks. */
export const hangUp: Answer = (request) => void request.socket.destroy();

/** A byte every 200 ms, for ever. */
export const drip: Answer = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 200);
  response.once("close", () => clearInterval(timer));
};

/** More bytes than anybody should read, as fast as they are taken; `sent` counts them. */
export function flood(bytes: number, sent: { bytes: number }): Answer {
  const chunk = Buffer.alloc(65_536, " ");
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const push = (): void => {
      while (!response.destroyed && sent.bytes < bytes) {
        sent.bytes += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", push);
      }
      response.end();
    };
    push();
  };
}
