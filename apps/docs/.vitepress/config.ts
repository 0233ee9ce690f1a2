/** The site of these pages: everything that it shows it brings along, and a link to nowhere fails the build. */
import { globSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";
import llms from "vitepress-plugin-llms";
import { llmsTemplate } from "./llms.ts";
import { sidebar } from "./sidebar.ts";

const DOCS = path.resolve(import.meta.dirname, "..");
/** Where the site will be: `/`, or a folder such as `/berth/`. */
// oxlint-disable-next-line node/no-process-env -- a build is configured by nothing else
const base = process.env["BERTH_DOCS_BASE"] ?? "/";

/** Pages of a folder, each with its own first heading as the text. */
function pagesOf(folder: string): DefaultTheme.SidebarItem[] {
  const files = globSync(`${folder}/*.md`, { cwd: DOCS }).filter(
    (file) => !/\/(?:index|README)\.md$/.test(file),
  );
  return files.sort().map((file) => {
    const [, text = file] = /^# (.+)$/m.exec(readFileSync(path.join(DOCS, file), "utf8")) ?? [];
    return { text: text.replaceAll("`", ""), link: `/${file.replace(/\.md$/, "")}` };
  });
}

// oxlint-disable-next-line import/no-default-export -- what VitePress loads
export default defineConfig({
  title: "Berth",
  description: "Books GPUs: exact units, a time axis, tenants with quota, self-service.",
  lang: "en",
  base,
  cleanUrls: true,
  ignoreDeadLinks: false,
  // Folders are read on GitHub as README.md and served as index.
  rewrites: { "adr/README.md": "adr/index.md" },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "How-to", link: "/how-to/" },
      { text: "Reference", link: "/reference/" },
      { text: "Explanation", link: "/explanation/" },
      { text: "Operations", link: "/operations" },
    ],
    sidebar: sidebar(pagesOf),
    outline: [2, 3],
  },
  // What pages link to beside pages: rules for Prometheus, the dashboard.
  buildEnd: ({ outDir }) =>
    cp(path.join(DOCS, "operations"), path.join(outDir, "operations"), { recursive: true }),
  vite: {
    plugins: [
      llms({
        customLLMsTxtTemplate: llmsTemplate(base),
        ignoreFilesPerOutput: { llmsFullTxt: ["adr/*", "runbooks/*"] },
        excludeIndexPage: false,
      }),
    ],
  },
});
