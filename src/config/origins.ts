import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** A setting that takes origins of web pages, `https://example.com,http://localhost:5173`; `none` is none. */
export function origins(base: SettingBase): Setting<readonly string[]> {
  return {
    placeholder: "ORIGIN,...",
    ...base,
    parse: (text) => (text === "none" ? [] : [...new Set(text.split(",").map((part) => parseOrigin(part.trim())))]),
    format: (value) => value.join(",") || "none",
  };
}

/** An origin as browsers write it, letter for letter, because the header that they send is compared as a text. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && url.origin === text) return text;
  const meant = isWeb ? `, here ${url.origin}` : "";
  throw new SettingError(`whole origins such as https://example.com or http://localhost:5173, no pattern${meant}`);
}
