/**
 * `GET /docs/errors/{kind}`: what the `type` of a problem leads to. Made of the contract's registry, so that it
 * is there without a network and is of the same version as the server that answered.
 */
import { ApiError } from "@berth/api";
import {
  ERROR_KINDS,
  ERROR_PAGES,
  type ErrorKind,
  errorFacts,
  errorIndexMarkdown,
  errorMarkdown,
  reasonsOf,
} from "@berth/contract";
import { errorExample } from "@berth/contract/examples";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendProblem } from "./problem.ts";

/** Pages change with the server's version and no sooner. */
const CACHE = "public, max-age=3600";
const address = (name: string) => `${ERROR_PAGES}/${name}`;

export function errorPages(app: FastifyInstance): void {
  app.get(ERROR_PAGES, (request, reply) =>
    send(reply, wantsMarkdown(request) ? errorIndexMarkdown(address) : indexPage()),
  );
  app.get(`${ERROR_PAGES}/:kind`, (request, reply) => {
    const [, name = "", markdown] =
      /^([a-z-]+)(\.md)?$/.exec((request.params as { kind: string }).kind) ?? [];
    const kind = ERROR_KINDS.get(name);
    if (!kind)
      return sendProblem(
        reply,
        new ApiError("NOT_FOUND", {
          message: `There is no such kind of error: ${ERROR_PAGES} lists them.`,
        }),
      );
    const example = errorExample(name);
    const text = example === null ? null : JSON.stringify(example, null, 2);
    return send(
      reply,
      markdown !== undefined || wantsMarkdown(request)
        ? errorMarkdown(kind, text, address)
        : kindPage(kind, text),
    );
  });
}

/** Programs and people at a terminal may ask for the text. */
const wantsMarkdown = ({ headers }: FastifyRequest) =>
  /\btext\/(?:markdown|plain)\b/i.test(headers.accept ?? "");

function send(reply: FastifyReply, text: string): FastifyReply {
  const type = text.startsWith("<") ? "html" : "markdown";
  return reply
    .headers({
      "content-type": `text/${type}; charset=utf-8`,
      "cache-control": CACHE,
      vary: "accept",
    })
    .send(text);
}

function kindPage(kind: ErrorKind, example: string | null): string {
  const rows = errorFacts(kind).map(
    ([name, value]) => `<tr><th>${inline(name)}<td>${inline(value)}`,
  );
  const reasons = reasonsOf(kind).map((name) => `<li>${link(name)}`);
  return page(kind.title, [
    `<p>${inline(kind.meaning)}`,
    `<table>${rows.join("")}</table>`,
    "<h2>What to do</h2>",
    `<ul>${kind.steps.map((step) => `<li>${inline(step)}`).join("")}</ul>`,
    ...(reasons.length > 0 ? [`<h2>Reasons</h2><ul>${reasons.join("")}</ul>`] : []),
    ...(example === null ? [] : [`<h2>As it comes</h2><pre><code>${escape(example)}</code></pre>`]),
    `<p><a href="${ERROR_PAGES}">All errors</a>`,
  ]);
}

function indexPage(): string {
  const items = [...ERROR_KINDS].map(([name, { code, reason }]) => {
    const named = reason === null ? code : `${code} ${reason}`;
    return `<li>${link(name)} <code>${named}</code>`;
  });
  return page("Errors", [`<ul>${items.join("")}</ul>`]);
}

/** Without a style of its own: nothing but text is allowed under these addresses. */
function page(title: string, parts: readonly string[]): string {
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">` +
    `<meta name="viewport" content="width=device-width"><title>${escape(title)} · Berth</title>` +
    `<h1>${escape(title)}</h1>${parts.join("\n")}</html>\n`
  );
}

const link = (name: string) =>
  `<a href="${address(name)}">${escape(ERROR_KINDS.get(name)?.title ?? name)}</a>`;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
const escape = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
/** Markdown's backquotes, the one mark that the registry's texts have. */
const inline = (text: string) => escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
