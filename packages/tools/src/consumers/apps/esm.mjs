/** An ES module of Node, Bun or Deno. The environment says where the server is. */
import * as client from "@berth/client";
import { work } from "./work.mjs";

console.log(await work(client));
