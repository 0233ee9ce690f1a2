/** How the client names itself: `Berth-Client`, since browsers let nobody set `User-Agent`. */
import { CLIENT_VERSION } from "./methods.gen.ts";
import type { AppInfo } from "./options.ts";

/** `@berth/client/1.2.3 node/26.1.0 my-app/2.0`. */
export function clientName(app: AppInfo | undefined): string {
  const own = app && (app.version === undefined ? app.name : `${app.name}/${app.version}`);
  return [`@berth/client/${CLIENT_VERSION}`, runtimeName(), own].filter(Boolean).join(" ");
}

/** What of the runtimes' own names for themselves is looked at. */
interface Runtimes {
  readonly Deno?: { readonly version?: { readonly deno?: string } };
  readonly Bun?: { readonly version?: string };
  readonly EdgeRuntime?: string;
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly navigator?: { readonly userAgent?: string };
  readonly document?: unknown;
}

function runtimeName(): string {
  const { Deno, Bun, EdgeRuntime, process, navigator, document } = globalThis as Runtimes;
  // Deno and Bun also call themselves Node.
  if (Deno) return `deno/${Deno.version?.deno ?? "?"}`;
  if (Bun) return `bun/${Bun.version ?? "?"}`;
  if (typeof EdgeRuntime === "string") return "edge";
  if (navigator?.userAgent === "Cloudflare-Workers") return "workerd";
  if (process?.versions?.node) return `node/${process.versions.node}`;
  return document === undefined ? "unknown" : "browser";
}
