/** Tokens that are not wholly right: each wrong in one way, everything else about it as it should be. */
import { createHmac } from "node:crypto";
import { type FakeIssuer, KEYS, type SigningKey } from "@berth/api/testing";
import { EncryptJWT, SignJWT, exportSPKI, importJWK } from "jose";

export interface Hostile {
  readonly how: string;
  /** What the log says of it. */
  readonly reason: string;
  readonly token: string;
}

export interface Scene {
  readonly issuer: FakeIssuer;
  /** Keys of the issuer's own. */
  readonly ec: SigningKey;
  readonly rsa: SigningKey;
  /** Somebody with keys and a server of their own. */
  readonly stranger: FakeIssuer;
}

type Fields = Readonly<Record<string, unknown>>;

const part = (value: string | Uint8Array | object): string =>
  typeof value === "string" || value instanceof Uint8Array
    ? Buffer.from(value).toString("base64url")
    : part(JSON.stringify(value));

const ALGORITHMS: Readonly<Record<string, { name: string; hash: string }>> = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
};

/** Signs texts as they are, where a library would put them right. */
async function signed(
  key: SigningKey,
  header: string | object,
  payload: string | Uint8Array | object,
): Promise<string> {
  const input = `${part(header)}.${part(payload)}`;
  const algorithm = ALGORITHMS[key.alg];
  if (!algorithm) throw new Error(`no way to sign by ${key.alg}`);
  const signature = await crypto.subtle.sign(algorithm, key.private, Buffer.from(input));
  return `${input}.${part(new Uint8Array(signature))}`;
}

/** At most what a request's headers have room for; each of them with the reason that the log is to name. */
export async function hostileTokens(scene: Scene): Promise<Hostile[]> {
  return [
    ...(await withoutASignature(scene)),
    ...(await signedByOthers(scene)),
    ...(await withHeaders(scene)),
    ...(await ofOtherForms(scene)),
    ...(await withClaims(scene)),
    ...(await withTwoReadings(scene)),
  ];
}

async function withoutASignature({ issuer, ec, rsa }: Scene): Promise<Hostile[]> {
  const claims = issuer.claims();
  const good = await issuer.token({}, { key: ec });
  const unsigned = good.slice(0, good.lastIndexOf("."));
  const spelled = ["none", "None", "nOnE"].flatMap((alg) => {
    const head = `${part({ alg, typ: "at+jwt" })}.${part(claims)}`;
    return [
      { how: `alg ${alg}, and no signature`, reason: "form", token: `${head}.` },
      { how: `alg ${alg}, and some signature`, reason: "algorithm", token: `${head}.AAAA` },
    ];
  });
  const hmac = (secret: string) => {
    const input = `${part({ alg: "HS256", kid: rsa.kid, typ: "at+jwt" })}.${part(claims)}`;
    return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
  };
  const pem = await exportSPKI(
    (await importJWK(rsa.public, "RS256", { extractable: true })) as CryptoKey,
  );
  return [
    ...spelled,
    { how: "an empty signature", reason: "form", token: `${unsigned}.` },
    { how: "no third part", reason: "form", token: unsigned },
    {
      how: "ES256 with r = s = 0",
      reason: "signature",
      token: `${unsigned}.${part(new Uint8Array(64))}`,
    },
    { how: "HS256 by the public key as PEM", reason: "algorithm", token: hmac(pem) },
    {
      how: "HS256 by the public key as JWK",
      reason: "algorithm",
      token: hmac(JSON.stringify(rsa.public)),
    },
  ];
}

async function signedByOthers({ issuer, ec, rsa, stranger }: Scene): Promise<Hostile[]> {
  const other = stranger.key();
  const good = (await issuer.token({}, { key: ec })).split(".");
  const richer = part(issuer.claims({ roles: ["fleet-admin"] }));
  const header = (changes: Fields) => ({ key: other, header: changes });
  return [
    {
      how: "another issuer's key under the name of ours",
      reason: "signature",
      token: await issuer.token({}, header({ kid: ec.kid })),
    },
    { how: "another issuer's token", reason: "unknown-key", token: await stranger.token() },
    {
      how: "claims put in after signing",
      reason: "signature",
      token: [good[0], richer, good[2]].join("."),
    },
    {
      how: "RS256 over the key for ES256",
      reason: "unknown-key",
      token: await signed(
        { ...rsa, kid: ec.kid },
        { alg: "RS256", kid: ec.kid, typ: "at+jwt" },
        issuer.claims(),
      ),
    },
    {
      how: "ES256 over the key for RS256",
      reason: "unknown-key",
      token: await signed(ec, { alg: "ES256", kid: rsa.kid, typ: "at+jwt" }, issuer.claims()),
    },
    {
      how: "RS256 said, ES256 done",
      reason: "signature",
      token: await signed(ec, { alg: "RS256", kid: rsa.kid, typ: "at+jwt" }, issuer.claims()),
    },
    ...(await Promise.all(
      ["no-such-key", "../../x", "' or 1=1 --", "", "\u0000"].map(async (kid) => ({
        how: `kid ${JSON.stringify(kid)}`,
        reason: "unknown-key",
        token: await issuer.token({}, header({ kid })),
      })),
    )),
  ];
}

async function withHeaders({ issuer, ec, stranger }: Scene): Promise<Hostile[]> {
  const other = stranger.key();
  const theirs: Fields = {
    jku: stranger.url + KEYS,
    x5u: `${stranger.url}/certificate.pem`,
    jwk: other.public,
    x5c: ["MIIB"],
  };
  const ours: Fields = { crit: ["exp"], b64: true, zip: "DEF", cty: "JWT", enc: "A256GCM" };
  const typ = (value: unknown) => ({ key: ec, header: { typ: value } });
  const id = { scope: undefined, nonce: "n", at_hash: "h" };
  const headers = async (fields: Fields, key: SigningKey) =>
    Promise.all(
      Object.entries(fields).map(async ([name, value]) => ({
        how: `the header has ${name}`,
        reason: "header",
        token: await signed(
          key,
          { alg: key.alg, kid: key.kid, typ: "at+jwt", [name]: value },
          issuer.claims(),
        ),
      })),
    );
  return [
    ...(await headers(theirs, other)),
    ...(await headers(ours, ec)),
    {
      how: "b64 false, as crit demands",
      reason: "header",
      token: await signed(
        ec,
        { alg: "ES256", kid: ec.kid, typ: "at+jwt", b64: false, crit: ["b64"] },
        issuer.claims(),
      ),
    },
    {
      how: "a kid of 3 kB",
      reason: "header",
      token: await issuer.token({}, { key: ec, header: { kid: "k".repeat(3_000) } }),
    },
    {
      how: "a kid that is a number",
      reason: "header",
      token: await signed(ec, { alg: "ES256", kid: 1, typ: "at+jwt" }, issuer.claims()),
    },
    { how: "an ID token", reason: "kind", token: await issuer.token(id, typ("JWT")) },
    {
      how: "an ID token without a type",
      reason: "kind",
      token: await issuer.token(id, typ(undefined)),
    },
    ...(await Promise.all(
      ["logout+jwt", "dpop+jwt", "id+jwt", 7].map(async (value) => ({
        how: `typ ${value}`,
        reason: "kind",
        token: await signed(ec, { alg: "ES256", kid: ec.kid, typ: value }, issuer.claims()),
      })),
    )),
  ];
}

async function ofOtherForms({ issuer, ec }: Scene): Promise<Hostile[]> {
  const good = await issuer.token({}, { key: ec });
  const encrypted = await new EncryptJWT(issuer.claims())
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: "at+jwt" })
    .encrypt(new Uint8Array(32));
  return [
    { how: "encrypted (JWE)", reason: "form", token: encrypted },
    {
      how: "a token in a token",
      reason: "claims",
      token: await signed(ec, { alg: "ES256", kid: ec.kid, typ: "at+jwt" }, good),
    },
    { how: "a fourth part", reason: "form", token: `${good}.AAAA` },
    { how: "padded base64", reason: "form", token: `${good}==` },
    {
      how: "claims that are a list",
      reason: "claims",
      token: await signed(ec, { alg: "ES256", kid: ec.kid, typ: "at+jwt" }, "[]"),
    },
    {
      how: "claims that are not UTF-8",
      reason: "claims",
      token: await signed(
        ec,
        { alg: "ES256", kid: ec.kid, typ: "at+jwt" },
        Uint8Array.of(0x7b, 0xff, 0x7d),
      ),
    },
    {
      how: "a header that is a list",
      // Nothing by which it could be told from any other text.
      reason: "key",
      token: await signed(ec, '["alg"]', issuer.claims()),
    },
  ];
}

async function withClaims({ issuer, ec }: Scene): Promise<Hostile[]> {
  const now = Number(issuer.claims()["iat"]);
  const wrong: [string, Fields, string][] = [
    ["aud missing", { aud: undefined }, "audience"],
    ["aud another", { aud: "https://other.example.com" }, "audience"],
    ["aud a list of others", { aud: ["https://berth.example.com.evil.example", ""] }, "audience"],
    ["aud an empty list", { aud: [] }, "audience"],
    ["aud longer at the end", { aud: "https://berth.example.com/" }, "audience"],
    ["aud a list with more than texts", { aud: ["https://berth.example.com", 1] }, "claims"],
    ["iss with a slash at the end", { iss: `${issuer.url}/` }, "issuer"],
    ["iss in another case", { iss: issuer.url.replace("http", "HTTP") }, "issuer"],
    ["iss missing", { iss: undefined }, "claims"],
    ["iss a list", { iss: [issuer.url] }, "issuer"],
    ["exp past", { exp: now - 31 }, "expired"],
    ["exp absent", { exp: undefined }, "claims"],
    ["exp a text", { exp: String(now + 60) }, "claims"],
    ["exp 1e18", { exp: 1e18 }, "claims"],
    ["exp below zero", { exp: -1 }, "expired"],
    ["exp null", { exp: null }, "claims"],
    ["nbf in the future", { nbf: now + 3_600 }, "early"],
    ["iat in the future", { iat: now + 3_600 }, "early"],
    ["iat absent", { iat: undefined }, "claims"],
    ["sub empty", { sub: "" }, "claims"],
    ["sub absent", { sub: undefined }, "claims"],
    ["sub a number", { sub: 7 }, "claims"],
    ["sub with a line break", { sub: "ada\nadmin" }, "claims"],
    ["sub of 256 characters", { sub: "a".repeat(256) }, "claims"],
    ["bound to its holder's key", { cnf: { jkt: "x" } }, "bound"],
    ["no role", { roles: [] }, "unmapped"],
    ["no tenant", { tenant: undefined }, "no-tenant"],
    ["two tenants", { tenant: ["lab", "vision"] }, "several-tenants"],
  ];
  const sign = (claims: Fields) =>
    new SignJWT(issuer.claims(claims))
      .setProtectedHeader({ alg: "ES256", kid: ec.kid, typ: "at+jwt" })
      .sign(ec.private);
  return Promise.all(
    wrong.map(async ([how, claims, reason]) => ({ how, reason, token: await sign(claims) })),
  );
}

/** Two readers take these for two things. */
async function withTwoReadings({ issuer, ec }: Scene): Promise<Hostile[]> {
  const header = { alg: "ES256", kid: ec.kid, typ: "at+jwt" };
  const claims = JSON.stringify(issuer.claims()).slice(1);
  const doubled = (text: string) => signed(ec, header, `{${text},${claims}`);
  const headTwice = `{"alg":"none",${JSON.stringify(header).slice(1)}`;
  return [
    { how: "sub twice", reason: "claims", token: await doubled('"sub":"root"') },
    {
      how: "sub twice, once escaped",
      reason: "claims",
      token: await doubled(String.raw`"s\u0075b":"root"`),
    },
    {
      how: "a name twice, further in",
      reason: "claims",
      token: await doubled('"x":{"a":1,"a":2}'),
    },
    { how: "alg twice", reason: "header", token: await signed(ec, headTwice, issuer.claims()) },
  ];
}
