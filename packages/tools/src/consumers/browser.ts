/** A page built by Vite, served from an origin of its own and opened in a browser. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { bin, command } from "../pack/command.ts";
import { chromium } from "./programs.ts";
import { APPS, type Consumer, type Stage, expectWorked, inFolder, pinned } from "./stage.ts";

const PAGE = ["index.html", "main.mjs", "vite.config.ts"];
const LIMIT_MS = 90_000;

export const BROWSER: Consumer = {
  name: "Browser",
  async run(stage) {
    const vite = (await pinned("packages/client", "vite")).replace("@", " ");
    return inFolder(stage, { apps: ["work.mjs"] }, async (folder) => {
      const page = path.join(folder, "page");
      await mkdir(page);
      for (const file of PAGE)
        await copyFile(path.join(APPS, "browser", file), path.join(page, file));
      await command(page, bin("vite"), ["build"]);
      const bytes = await sizeOf(path.join(page, "dist/assets"));
      // Built in any case: what follows needs a browser.
      const browser = await chromium();
      const line = await opened(stage, page, browser.file);
      return {
        versions: `${vite}, ${browser.version}`,
        ran: `${expectWorked(line)}; ${(bytes / 1_000).toFixed(0)} kB built`,
      };
    });
  },
};

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(
    async (file) => (await stat(path.join(folder, file))).size,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** What the page told. */
async function opened(stage: Stage, page: string, browser: string): Promise<string> {
  const profile = await mkdtemp(path.join(tmpdir(), "berth-browser-"));
  const programs: ChildProcess[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const app = await ownServer(stage.token, resolve);
  try {
    const port = await freePort();
    const env = {
      ...process.env,
      BERTH_URL: stage.url,
      APP_URL: urlOf(app),
      APP_PORT: String(port),
    };
    programs.push(begun(bin("vite"), ["preview"], { cwd: page, env, onEnd: reject }));
    const url = `http://127.0.0.1:${port}/`;
    await answers(url);
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    const more = [`--user-data-dir=${profile}`, "--no-first-run", "--enable-logging=stderr", url];
    programs.push(
      begun(browser, [...flags, ...more], { cwd: page, env: process.env, onEnd: reject }),
    );
    const timer = setTimeout(() => reject(new Error("the page told nothing")), LIMIT_MS);
    return await promise.finally(() => clearTimeout(timer));
  } finally {
    promise.catch(() => undefined);
    await Promise.all(programs.map(ended));
    app.closeAllConnections();
    app.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The app's own: who is signed in, and how it went. */
async function ownServer(token: string, told: (line: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === "/session") return void response.end(JSON.stringify({ token }));
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      response.end();
      told(body);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Begun {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  onEnd(error: Error): void;
}

/** A program of a group of its own, so that what it starts ends with it. Its end before the page's word is a failure. */
function begun(file: string, args: readonly string[], { cwd, env, onEnd }: Begun): ChildProcess {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-4_000)));
  child.on("error", onEnd);
  child.on("close", (code) =>
    onEnd(new Error(`${path.basename(file)} ended with ${code}\n${said}`)),
  );
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGTERM");
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 5_000);
  await closed.finally(() => clearTimeout(timer));
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("vite preview does not answer");
}
