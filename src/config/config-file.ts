import { readFileSync } from "node:fs";
import type { SettingProblem, SettingSources } from "./load-settings.ts";
import type { Settings } from "./setting.ts";
import { suggestion } from "./suggestion.ts";

/** The contents of a configuration file: its texts by setting name, and its problems. */
export interface ConfigFile {
  readonly file?: NonNullable<SettingSources["file"]>;
  readonly problems: readonly SettingProblem[];
}

/**
 * Reads a configuration file: one JSON object whose keys are setting names. Never throws: all problems are in the
 * result.
 */
export function readConfigFile(path: string, settings: Settings): ConfigFile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const hint = `Name a file that can be read and holds JSON: ${(error as Error).message}.`;
    return { problems: [{ place: "--config", value: path, hint }] };
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    return { problems: [{ place: "--config", value: path, hint: "Put one JSON object into it." }] };
  }
  const known = new Set(Object.values(settings).map(({ name }) => name));
  const problems: SettingProblem[] = [];
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    const place = `${name} in ${path}`;
    if (!known.has(name)) problems.push({ place, hint: `There is no such setting.${suggestion(name, known)}` });
    else if (typeof value === "object") problems.push({ place, hint: "a string, a number, true or false" });
    else texts[name] = String(value);
  }
  return { file: { path, texts }, problems };
}
