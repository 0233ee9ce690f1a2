/** A page. Its own server hands it a token and stands in front of Berth; it tells that server how it went. */
import * as client from "@berth/client";
import { work } from "../work.mjs";

const tell = (line) => fetch("/told", { method: "POST", body: line });
addEventListener("error", ({ message }) => void tell(`error: ${message}`));
addEventListener("unhandledrejection", ({ reason }) => void tell(`rejection: ${reason}`));

const { token } = await (await fetch("/session")).json();
await tell(await work(client, { url: location.origin, token }));
