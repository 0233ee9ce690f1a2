/** The entries that need a library of the consumer's. */
import { type Consumer, inFolder, lineOf, pinned } from "./stage.ts";
import { demand } from "../pack/command.ts";

export const REACT: Consumer = {
  name: "React",
  async run(stage) {
    const react = await pinned("packages/client", "react");
    const query = await pinned("packages/client", "@tanstack/react-query");
    const packages = [react, react.replace("react@", "react-dom@"), query];
    return inFolder(stage, { packages, apps: ["react.mjs"] }, async (folder) => {
      const line = await lineOf(stage, { folder }, [process.execPath, "react.mjs"]);
      demand(line === "every pool drawn, booked", `it said ${line}`);
      return {
        versions: [react, query].map(spoken).join(", "),
        ran: "a query drawn on a server, a mutation, a page of a list",
      };
    });
  },
};

const SPANS = "access.whoami 0, pools.list 0, reservations.get 2, carried";

export const OTEL: Consumer = {
  name: "OpenTelemetry",
  async run(stage) {
    const api = await pinned("packages/client", "@opentelemetry/api");
    const sdk = await pinned("apps/server", "@opentelemetry/sdk-trace");
    // Released together, under one version.
    const core = sdk.replace("sdk-trace@", "core@");
    return inFolder(stage, { packages: [api, sdk, core], apps: ["otel.mjs"] }, async (folder) => {
      const line = await lineOf(stage, { folder }, [process.execPath, "otel.mjs"]);
      demand(line === SPANS, `it was to say\n  ${SPANS}\nand said\n  ${line}`);
      return {
        versions: [api, sdk].map(spoken).join(", "),
        ran: "three spans, one of an error, each sent along",
      };
    });
  },
};

/** The last part of a name, and its version. */
const spoken = (name: string) => name.replace(/^.*\//, "").replace("@", " ");
