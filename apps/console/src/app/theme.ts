/** Light, dark, or as the system has it. Kept for this browser. */

const KEY = "berth.theme";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function readTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";
}

/** Without the attribute the page follows the system. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset["theme"];
    return;
  }
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset["theme"] = theme;
}
