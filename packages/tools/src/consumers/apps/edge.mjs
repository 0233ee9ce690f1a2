/** A worker: one bundled script and a handler, and nothing but what the web has. */
import * as client from "@berth/client";
import { work } from "./work.mjs";

globalThis.handle = (url, token) => work(client, { url, token });
