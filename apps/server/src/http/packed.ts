/**
 * A large text that many ask for: packed once a form, when somebody first asks for it, and not sent to who has it
 * already.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

const pack = {
  // Nearly as small as the smallest, in a fraction of a second.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};
type Form = keyof typeof pack;
const FORMS = Object.keys(pack) as readonly Form[];

/** A form of the text, and what names it. */
interface Made {
  readonly bytes: Buffer;
  readonly etag: string;
}

async function made(bytes: Promise<Buffer>): Promise<Made> {
  const text = await bytes;
  return { bytes: text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}

/** @param read gives the text; asked once */
export function packed(read: () => Promise<Buffer>) {
  const forms = new Map<Form | null, Promise<Made>>();
  const as = (form: Form | null): Promise<Made> => {
    const found =
      forms.get(form) ??
      made(form === null ? read() : as(null).then(({ bytes }) => pack[form](bytes)));
    forms.set(form, found);
    return found;
  };
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const form = FORMS.find((each) => accepts(headers["accept-encoding"], each)) ?? null;
    const { bytes, etag } = await as(form);
    void reply.headers({ vary: "accept-encoding", etag });
    if (has(headers["if-none-match"], etag)) return reply.code(304).send();
    if (form !== null) void reply.header("content-encoding", form);
    return reply.send(bytes);
  };
}

/** Whether the list of tags has this one; a proxy that packs anew may have made it weak. */
function has(list: string | undefined, etag: string): boolean {
  return (list ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}

/** Whether the form is named, and not with a weight of nothing. */
function accepts(header: string | string[] | undefined, form: Form): boolean {
  return String(header ?? "")
    .split(",")
    .some((each) => {
      const [name = "", ...parameters] = each
        .trim()
        .toLowerCase()
        .split(";")
        .map((part) => part.trim());
      return name === form && !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text));
    });
}
