import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** A setting that takes origins of web pages, `https://example.com,http://localhost:5173`; `none` means no origin. */
export function origins(base: SettingBase): Setting<readonly string[]> {
  return {
    placeholder: "ORIGIN,...",
    ...base,
    parse: (text) => (text === "none" ? [] : [...new Set(text.split(",").map((part) => parseOrigin(part.trim())))]),
    format: (value) => value.join(",") || "none",
  };
}

/**
 * An origin as browsers write it, letter for letter, because the header that they send is compared as a text. A star in
 * the first label of a host stands for a part of that label. Two labels follow it, so that it is not a whole `.com`.
 */
function parseOrigin(text: string): string {
  const withoutStar = /^https?:\/\/[^/.:]*\*[^/.:*]*(?:\.[^/.:*]+){2,}(?::\d+)?$/.test(text)
    ? text.replace("*", "x")
    : text;
  const url = withoutStar.includes("*") ? null : URL.parse(withoutStar);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && url.origin === withoutStar) return text;
  const meant = isWeb && withoutStar === text ? `, here ${url.origin}` : "";
  const forms = "https://example.com, http://localhost:5173 or https://pr-*.preview.example.com";
  throw new SettingError(`whole origins such as ${forms}${meant}`);
}
