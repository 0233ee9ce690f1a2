/** What somebody between us and the database could do, told from its URL. */
import { isIP } from "node:net";

/** These the driver takes for no TLS at all; so it does no mode. */
const OFF = new Set(["", "disable", "false"]);

/**
 * A sentence for the operator about a database across a network that is spoken to in the clear, or without knowing
 * that it is the right one; null when nobody is in between, or TLS proves who answers. Names hosts, never a password.
 */
export function clearText(databaseUrl: string): string | null {
  const far = hostsOf(databaseUrl).filter((host) => !isHere(host));
  if (far.length === 0) return null;
  const where = `the database at ${far.join(", ")}`;
  const mode = modeOf(databaseUrl);
  if (OFF.has(mode))
    return `${where} is spoken to without TLS: whoever is in between reads and changes everything. Add ?sslmode=verify-full to DATABASE_URL`;
  if (mode === "prefer")
    return `${where} is spoken to without TLS whenever it, or somebody in between, says so. Make it ?sslmode=verify-full in DATABASE_URL`;
  if (mode === "allow" || mode === "require")
    return `${where} is spoken to with TLS, but not asked who it is: somebody in between can answer in its place. Make it ?sslmode=verify-full in DATABASE_URL`;
  return null;
}

/** As the driver reads it: `sslmode` before `ssl`. */
function modeOf(url: string): string {
  const query = new URLSearchParams(url.split("?", 2)[1]);
  if (query.get("sslrootcert") === "system") return "verify-full";
  return query.get("sslmode") || query.get("ssl") || "";
}

/** Several by comma, which the standard's own parser does not take. */
function hostsOf(url: string): string[] {
  const authority = url.slice(url.indexOf("://") + 3).split(/[/?#]/, 1)[0] ?? "";
  const hosts = authority.slice(authority.lastIndexOf("@") + 1).split(",");
  return hosts.map((host) => decodeHost(host.replace(/:\d*$/, "")).replace(/^\[|\]$/g, ""));
}

function decodeHost(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * This machine: the loopback interface, or a socket in a folder. The driver takes no host for localhost.
 *
 * @param host without the brackets of an address of IPv6
 */
export function isHere(host: string): boolean {
  if (host === "" || host === "localhost" || host === "::1" || host.startsWith("/")) return true;
  return isIP(host) === 4 && host.startsWith("127.");
}
