import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** A setting that takes host names, `ids.example.com,ids`; `any` is every name. They are kept in lower-case letters. */
export function hostNames(base: SettingBase): Setting<readonly string[] | "any"> {
  return {
    placeholder: "NAME,...",
    ...base,
    parse: (text) => (text === "any" ? "any" : [...new Set(text.split(",").map((part) => parseName(part.trim())))]),
    format: (value) => (value === "any" ? value : value.join(",")),
  };
}

function parseName(text: string): string {
  const name = /^([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?)\.?$/.exec(text.toLowerCase())?.[1];
  if (name !== undefined) return name;
  throw new SettingError("host names such as ids.example.com, without scheme and port, separated by commas; or any");
}
