/** The server as a library: what the demo, the tests and the people's command line start. */
export { type Config, ConfigError, readConfig } from "./config.ts";
export { type Report, examine } from "./doctor/run.ts";
export { createLog } from "./log.ts";
export { type Running, type ServeOptions, serve } from "./serve.ts";
