/**
 * A plain Fastify server with one POST: the schemas of `access.whoami` around a fixed answer. What our own surface
 * is held against; `reads.ts` starts it as a process of its own, which prints its port.
 */
import type { AddressInfo } from "node:net";
import { schemasOf } from "@berth/contract";
import fastify from "fastify";

const { input, output } = schemasOf("access.whoami");
const answer = JSON.parse(process.env["PLAIN_ANSWER"] ?? "null") as unknown;

const app = fastify();
app.post("/plain", (request) => {
  input.parse(request.body);
  return output.parse(answer);
});
await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
