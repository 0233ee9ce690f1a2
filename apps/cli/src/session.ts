/** The client of the server that is meant, and the tenant that is meant; the environment wins over the login. */
import { type Berth, createBerth } from "@berth/client";
import { clean } from "./output/clean.ts";
import { type Login, configFile, readLogin } from "./config-file.ts";
import { usage } from "./exit.ts";
import { type Io, say } from "./io.ts";
import { version } from "./version.ts";

export interface Session {
  readonly berth: Berth;
  readonly url: string;
  /** The tenant of `--tenant`, BERTH_TENANT, the login, or else the key's own: asked for once. */
  tenantId(): Promise<string>;
}

export interface TenantOption {
  readonly tenant?: string;
}

/** @throws Quit that says how to log in */
export async function openSession(io: Io, { tenant }: TenantOption = {}): Promise<Session> {
  const login = await loginOf(io);
  const berth = connect(io, login);
  let asked: Promise<string> | undefined;
  const given = tenant || login.tenantId;
  return {
    berth,
    url: login.url.replace(/\/+$/, ""),
    tenantId: () =>
      (asked ??= given
        ? Promise.resolve(given)
        : berth.access.whoami({}).then(({ tenantId }) => tenantId)),
  };
}

/** A client that names itself. @throws Quit for a url that is none */
export function connect(io: Io, { url, token }: Pick<Login, "url" | "token">): Berth {
  try {
    return createBerth({
      url,
      token,
      appInfo: { name: "berth-cli", version: version() },
      onWarning: (message) => say(io, clean(message)),
    });
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message);
    throw error;
  }
}

/**
 * The environment's, part by part, then what is kept: for the server that it was kept for, and for no other. Null when
 * that comes to no token for a server.
 */
export async function signedIn({ env }: Pick<Io, "env">): Promise<Login | null> {
  const [url, token, tenantId] = [env["BERTH_URL"], env["BERTH_TOKEN"], env["BERTH_TENANT"]];
  if (url && token) return { url, token, tenantId: tenantId || null };
  const kept = await readLogin({ env });
  if (!kept || (url && !isSame(url, kept.url))) return null;
  return {
    url: kept.url,
    token: token || kept.token,
    tenantId: tenantId || (token ? null : kept.tenantId),
  };
}

async function loginOf(io: Io): Promise<Login> {
  return (await signedIn(io)) ?? refuse(io, await readLogin(io));
}

function refuse(io: Io, kept: Login | null): never {
  const [url, token] = [io.env["BERTH_URL"], io.env["BERTH_TOKEN"]];
  if (kept)
    throw usage(
      `BERTH_URL is ${url}, and ${configFile(io)} has a token for ${kept.url}`,
      "  set BERTH_TOKEN as well, or berth login to that server",
    );
  throw usage(
    missing({ url, token }),
    "  berth login asks for both, or set them in the environment",
  );
}

function missing({ url, token }: { url: string | undefined; token: string | undefined }): string {
  if (url) return "no token: BERTH_TOKEN is not set, and nobody has logged in here";
  if (token) return "no server: BERTH_URL is not set, and nobody has logged in here";
  return "nobody has logged in here, and BERTH_URL and BERTH_TOKEN are not set";
}

function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}
