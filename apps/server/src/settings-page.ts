/** The reference page of the settings, written from the table that reads them. */
import { settings } from "./config.ts";

/** Markdown; `packages/tools/src/gen-settings.ts` keeps it at apps/docs/reference/settings.md. */
export function settingsPage(): string {
  const rows = settings().map(({ name, says, unset, must }) =>
    [`\`${name}\``, says, unset, must ?? ""].map(cell).join(" | "),
  );
  return `${[
    "<!-- Generated from apps/server/src/config.ts: run `pnpm generate`, do not edit. -->",
    "# Settings",
    "Every setting comes from the environment; there is no configuration file. An empty variable counts as not set. A value " +
      "that cannot be used stops the start with one line that names the variable, and never shows the value. " +
      "`berth serve --help` prints the same list.",
    [
      "| Variable | What it is | Not set | A value |",
      "| --- | --- | --- | --- |",
      ...rows.map((row) => `| ${row} |`),
    ].join("\n"),
  ].join("\n\n")}\n`;
}

const cell = (text: string) => text.replaceAll("|", "\\|");
