/** A loopback proxy in front of servers that cuts whatever goes through it, when a test says so. */
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** Where new connections go, in turn. */
  to(...urls: readonly string[]): void;
  /** Cuts every connection in the middle of whatever it carries; answers how many. */
  cutAll(): number;
  close(): Promise<void>;
}

export async function cuttingProxy(...urls: readonly string[]): Promise<CuttingProxy> {
  let targets = [...urls];
  let turn = 0;
  const links = new Set<() => void>();
  const server = createServer((client: Socket) => {
    const { hostname, port } = new URL(targets[(turn += 1) % targets.length] ?? "");
    const target = connect(Number(port), hostname);
    const cut = (): void => {
      links.delete(cut);
      client.destroy();
      target.destroy();
    };
    links.add(cut);
    for (const socket of [client, target]) socket.on("error", cut).on("close", cut);
    client.pipe(target).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(...next) {
      targets = [...next];
    },
    cutAll() {
      const open = [...links];
      for (const cut of open) cut();
      return open.length;
    },
    async close() {
      for (const cut of links) cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
