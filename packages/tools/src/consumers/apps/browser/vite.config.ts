/** The app's own server takes calls to Berth on to it, so that page and API have one origin. */
const { BERTH_URL: berth = "", APP_URL: app = "", APP_PORT: port } = process.env;

export default {
  logLevel: "warn",
  build: { target: "es2022" },
  preview: {
    host: "127.0.0.1",
    port: Number(port),
    strictPort: true,
    proxy: { "/trpc": berth, "/session": app, "/told": app },
  },
};
