/** Posts to our surface and to a plain Fastify server with the same schemas, in turns. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { Caller } from "./caller.ts";
import { type Figure, quantile } from "./figure.ts";
import type { System } from "./servers.ts";

const PLAIN = path.resolve(import.meta.dirname, "plain-server.ts");
const CONNECTIONS = 8;
/** Of a plain server's rate. */
const SHARE = 0.7;

interface Target {
  readonly url: string;
  readonly token: string;
  readonly method: "POST" | "GET";
}

export async function postsAgainstPlain(
  system: System,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Figure[]> {
  const { token } = system;
  const [base = ""] = system.urls;
  const caller = new Caller(base, token);
  const answer = await caller.must("access.whoami", {});
  caller.close();
  const plain = await startPlain(answer);
  try {
    const targets = {
      ours: { url: `${base}/api/compute/access/whoami`, token, method: "POST" },
      plain: { url: plain.url, token, method: "POST" },
      trpc: { url: `${base}/trpc/access.whoami`, token, method: "GET" },
    } as const satisfies Record<string, Target>;
    const seen: Record<keyof typeof targets, number>[] = [];
    for (const target of Object.values(targets)) await rateOf(target, 0.5);
    for (let round = 0; round < rounds; round += 1)
      seen.push({
        ours: await rateOf(targets.ours, seconds / 2),
        plain: await rateOf(targets.plain, seconds / 2),
        trpc: await rateOf(targets.trpc, seconds / 2),
      });
    return figures(seen);
  } finally {
    plain.process.kill();
    await once(plain.process, "exit");
  }
}

function figures(seen: readonly Readonly<Record<"ours" | "plain" | "trpc", number>>[]): Figure[] {
  const middle = (of: (round: (typeof seen)[number]) => number): number =>
    quantile(seen.map(of), 0.5);
  const value = middle(({ plain }) => plain);
  const yardstick = { id: "plain Fastify", value, unit: "posts/s" };
  const ratio = middle(({ ours, plain }) => ours / plain);
  const beyond = middle(({ plain, trpc }) => 1e6 / trpc - 1e6 / plain);
  return [
    { id: "post.ours", value: middle(({ ours }) => ours), unit: "posts/s", direction: "higher" },
    { id: "post.plain", value, unit: "posts/s", direction: "higher" },
    {
      id: "post.against-plain",
      value: ratio,
      unit: "×",
      direction: "higher",
      must: SHARE,
      yardstick,
      ratio,
    },
    { id: "trpc.beyond-plain", value: beyond, unit: "µs a call", direction: "lower" },
  ];
}

async function startPlain(answer: object) {
  const child = spawn(process.execPath, [PLAIN], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PLAIN_ANSWER: JSON.stringify(answer) },
  });
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return { process: child, url: `http://127.0.0.1:${port}/plain` };
}

/** Answers a second over some connections, each with one call at a time. */
async function rateOf(target: Target, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const started = performance.now();
  const until = started + seconds * 1_000;
  let answers = 0;
  const drive = async (): Promise<void> => {
    while (performance.now() < until) {
      await call(target, agent);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, drive));
  agent.destroy();
  return answers / ((performance.now() - started) / 1_000);
}

function call({ method, token, url }: Target, agent: Agent): Promise<void> {
  const body = method === "POST" ? "{}" : "";
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": body.length }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
