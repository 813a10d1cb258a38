import { readFileSync } from "node:fs";
import type { SettingProblem, SettingSources } from "./load-settings.ts";
import type { Settings } from "./setting.ts";

/** A configuration file as read: its texts by setting name, and what is wrong with it. */
export interface ConfigFile {
  readonly file?: NonNullable<SettingSources["file"]>;
  readonly problems: readonly SettingProblem[];
}

/**
 * Reads a configuration file: one JSON object whose keys are setting names. Never throws: what is wrong is in
 * `problems`.
 */
export function readConfigFile(path: string, settings: Settings): ConfigFile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const cure = `Name a file that can be read and holds JSON: ${(error as Error).message}.`;
    return { problems: [{ place: "--config", value: path, cure }] };
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    return { problems: [{ place: "--config", value: path, cure: "Put one JSON object into it." }] };
  }
  const known = new Set(Object.values(settings).map(({ name }) => name));
  const problems: SettingProblem[] = [];
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    const place = `${name} in ${path}`;
    if (!known.has(name)) problems.push({ place, cure: `There is no such setting.${suggestion(name, known)}` });
    else if (typeof value === "object") problems.push({ place, cure: "a text, a number, true or false" });
    else texts[name] = String(value);
  }
  return { file: { path, texts }, problems };
}

/** ` Did you mean "listen"?` if a known name is two slips of the pen away or less, else nothing. */
export function suggestion(name: string, known: Iterable<string>): string {
  const near = [...known]
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= 2)
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near === undefined ? "" : ` Did you mean ${near.candidate}?`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? a.length;
}
