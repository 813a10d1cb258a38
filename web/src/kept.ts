import type { Theme } from "./state.ts";

/** The key under which the browser keeps {@link keptTheme}. */
export const themeKey = "snowlane-theme";

/** Reads the text that the browser keeps under a key; empty if there is none, or if it keeps none for any page. */
export function kept(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** The theme that the reader chose; `auto` where none was chosen. */
export function keptTheme(): Theme {
  const theme = kept(themeKey);
  return theme === "light" || theme === "dark" ? theme : "auto";
}
