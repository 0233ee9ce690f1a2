/** A large text that many ask for: packed once a form, when somebody first asks for it. */
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

/** @param read gives the text; asked once */
export function packed(read: () => Promise<Buffer>) {
  let plain: Promise<Buffer> | undefined;
  const made = new Map<Form, Promise<Buffer>>();
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    void reply.header("vary", "accept-encoding");
    const bytes = (plain ??= read());
    const form = FORMS.find((each) => accepts(headers["accept-encoding"], each));
    if (form === undefined) return reply.send(await bytes);
    const small = made.get(form) ?? bytes.then(pack[form]);
    made.set(form, small);
    return reply.header("content-encoding", form).send(await small);
  };
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
