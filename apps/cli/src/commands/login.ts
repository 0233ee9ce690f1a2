/** `berth login`: tries a server's address and a token, then keeps them. */
import { askSecret, askText, needsTerminal } from "../ask.ts";
import { readLogin, writeLogin } from "../config-file.ts";
import { usage } from "../exit.ts";
import { type Io, say } from "../io.ts";
import { clean } from "../output/clean.ts";
import { connect } from "../session.ts";
import type { Call } from "../spec.ts";

export interface LoginOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tenant?: string;
}

const LOCAL = "http://127.0.0.1:8787";
const TOKEN_MAX = 8_192;

export async function login({ io, onServer }: Call, options: LoginOptions): Promise<void> {
  if (options.token !== undefined && options.token !== "-")
    throw usage(
      "--token takes only -: others on this machine can read what a command is told",
      "  give the token on standard input: berth login --token - < token.txt",
    );
  if (options.url === undefined || options.token === undefined)
    needsTerminal(io, "say --url URL --token - and give the token on standard input");
  const url = options.url ?? (await askUrl(io));
  onServer(url);
  warnOfClearText(io, url);
  const token = options.token === "-" ? await firstLine(io) : await askSecret(io, "Token");
  if (token === "") throw usage("there is no token on standard input");
  const who = await connect(io, { url, token }).access.whoami({});
  const file = await writeLogin(io, { url, token, tenantId: options.tenant ?? null });
  say(
    io,
    clean(`logged in to ${url} as ${who.name}, ${who.role} of ${who.tenantId}; kept in ${file}`),
  );
  for (const name of ["BERTH_URL", "BERTH_TOKEN", "BERTH_TENANT"])
    if (io.env[name]) say(io, `${name} is set, and wins over it`);
}

async function askUrl(io: Io): Promise<string> {
  // A file that cannot be used is about to be replaced.
  const before = await readLogin(io).catch(() => null);
  return askText(io, "Server", before?.url ?? io.env["BERTH_URL"] ?? LOCAL);
}

/** A token in the clear is anybody's who is in between. */
function warnOfClearText(io: Io, url: string): void {
  if (!URL.canParse(url)) return;
  const { protocol, hostname } = new URL(url);
  const isHere = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !isHere)
    say(
      io,
      `warning: ${clean(hostname)} is spoken to without TLS: whoever is in between reads the token`,
    );
}

async function firstLine({ stdin }: Io): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.includes("\n") || text.length > TOKEN_MAX) break;
  }
  return text.split("\n", 1)[0]?.trim() ?? "";
}
