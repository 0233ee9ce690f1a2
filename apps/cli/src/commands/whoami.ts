/** `berth whoami`. */
import { type OutputOptions, print } from "../output/print.ts";
import { openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { local } from "../time.ts";

export async function whoami({ io, onServer }: Call, options: OutputOptions): Promise<void> {
  const { berth, url } = await openSession(io);
  onServer(url);
  const data = await berth.access.whoami({});
  await print(io, options, {
    data,
    lines: ({ main }) =>
      main(
        [data],
        [
          { name: "tenant", of: ({ tenantId }) => tenantId },
          { name: "name", of: ({ name }) => name },
          { name: "role", of: ({ role }) => role },
          { name: "pools", of: ({ scope }) => scope?.poolIds?.join(",") ?? "all" },
          {
            name: "expires",
            of: ({ expiresAt }) => (expiresAt === null ? "never" : local(expiresAt)),
          },
          { name: "server", of: () => url },
          { name: "key", of: ({ keyId }) => keyId },
        ],
      ),
  });
}
