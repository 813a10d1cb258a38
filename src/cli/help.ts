import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { docParts, environmentName, flagName, type Setting } from "../config/setting.ts";
import type { SettingGroup } from "../config/setting-groups.ts";
import { repositoryAddress, version } from "../version.ts";

const width = 100;

/** A command as its help describes it. */
export interface HelpSource {
  /** As it is typed after `snowlane`. */
  readonly name: string;
  /** The text that calls it. Default: `snowlane` and its name. See Command. */
  readonly call?: string;
  /** One line that says what the command does. */
  readonly summary: string;
  /** The word that it takes besides flags; absent: it takes none. */
  readonly positional?: { readonly placeholder: string; readonly doc: string };
  /** Calls as a user would type them, whole lines. */
  readonly examples: readonly string[];
  /** Given as flags only. */
  readonly flags: readonly Setting<unknown>[];
  /** Given as flags, in the environment or in a file. */
  readonly settings: readonly Setting<unknown>[];
  /** The subjects under which the settings are listed; absent: all under one. */
  readonly groups?: readonly SettingGroup[];
}

/** The text that a user types to call a command, before its arguments. */
export function callOf({ name, call = `snowlane ${name}` }: Pick<HelpSource, "name" | "call">): string {
  return call;
}

/**
 * Writes the help of a command for the first day: what it does, how it is called, its own flags, and the settings of
 * the first group, each by its first sentence and its default. Without groups this is {@link fullHelp}.
 */
export function briefHelp(source: HelpSource): string {
  const { settings, groups, flags } = source;
  const [first] = groups ?? [];
  if (first === undefined) return fullHelp(source);
  const { title, of } = knownOf(first, settings);
  const [example] = of;
  const variable = example === undefined ? "" : ` (--${flagName(example)} is ${environmentName(example)})`;
  const others = groups?.slice(1).map((group) => knownOf(group, settings)) ?? [];
  const subjects = others.filter((group) => group.of.length > 0).map((group) => beginLower(group.title));
  return write(source, [
    `Options:\n${flags.map(briefEntry).join("\n")}`,
    wrap(`A flag wins over the environment${variable}, and the environment over --config.`, ""),
    `${title}:\n${of.map(briefEntry).join("\n")}`,
    wrap(`${settings.length - of.length} more settings (${subjects.join(", ")}): ${callOf(source)} --help-all`, ""),
  ]);
}

/** Writes the help of a command: what it does, how it is called, and every flag, by subject. */
export function fullHelp(source: HelpSource): string {
  const { flags, settings, groups } = source;
  return write(source, [
    `Options:\n${flags.map((flag) => entry(flag, undefined)).join("\n")}`,
    ...(settings.length === 0 ? [] : settingParts(settings, groups)),
  ]);
}

const settingRule = "A flag wins over the environment, and the environment over --config.";

function write(source: HelpSource, middle: readonly string[]): string {
  const { call, summary, positional, examples } = source;
  const usage = [callOf(source), "[options]", positional?.placeholder].filter(Boolean).join(" ");
  const parts = [`${summary}.\n\nUsage: ${usage}`];
  if (positional !== undefined) parts.push(wrap(positional.doc, ""));
  parts.push(...middle, `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
  if (call === undefined) parts.push(endOf(parts.join()));
  return `${parts.join("\n\n")}\n`;
}

/** The pages are beside dist/ in a clone and in the package. An executable and an image have their address. */
const pagesFolder = fileURLToPath(new URL("../../docs", import.meta.url));

/** The last line. */
function endOf(text: string): string {
  const place = existsSync(join(pagesFolder, "cli.md"))
    ? `in ${pagesFolder}`
    : `at ${repositoryAddress}/tree/v${version}/docs`;
  const pages = text.includes("docs/") ? ` Pages of docs/ are ${place}.` : "";
  return `Exit codes: see snowlane --help.${pages}`;
}

function settingParts(
  settings: readonly Setting<unknown>[],
  groups: readonly SettingGroup[] | undefined,
): readonly string[] {
  if (groups === undefined) return [settingRule, `Settings:\n${entriesOf(settings)}`];
  const parts = groups
    .map((group) => knownOf(group, settings))
    .filter(({ of }) => of.length > 0)
    .map(({ title, note, of }) => `${title}:\n${note === undefined ? "" : `${wrap(note, "  ")}\n`}${entriesOf(of)}`);
  return [settingRule, ...parts];
}

/** A group with those of its settings that a command has. */
function knownOf(group: SettingGroup, settings: readonly Setting<unknown>[]) {
  const of = group.names.map((name) => settings.find((setting) => setting.name === name));
  return { ...group, of: of.filter((setting) => setting !== undefined) };
}

function entriesOf(settings: readonly Setting<unknown>[]): string {
  return settings.map((setting) => entry(setting, environmentName(setting))).join("\n");
}

function entry(setting: Setting<unknown>, environment: string | undefined): string {
  const variable = environment === undefined ? "" : ` [${environment}]`;
  return `  ${usageOf(setting)}\n${wrap(`${setting.doc}${fallbackOf(setting)}${variable}`, "      ")}`;
}

/** The column in which the texts of {@link briefHelp} begin. */
const briefColumn = 27;

function briefEntry(setting: Setting<unknown>): string {
  const { summary, fallback } = docParts(setting.doc);
  const text = [summary, fallback].filter(Boolean).join(" ") + fallbackOf(setting);
  const usage = `  ${usageOf(setting)} `;
  const lines = wrap(text, " ".repeat(briefColumn));
  return usage.length > briefColumn ? `${usage.trimEnd()}\n${lines}` : usage.padEnd(briefColumn) + lines.trimStart();
}

function usageOf(setting: Setting<unknown>): string {
  const short = setting.short === undefined ? "" : `-${setting.short}, `;
  return `${short}--${flagName(setting)} ${setting.placeholder}`.trimEnd();
}

function beginLower(title: string): string {
  return title.slice(0, 1).toLowerCase() + title.slice(1);
}

/** The default as a sentence; empty where there is none, and for a switch. */
function fallbackOf(setting: Setting<unknown>): string {
  const { fallback, placeholder } = setting;
  return fallback === undefined || placeholder === "" ? "" : ` Default: ${setting.format(fallback)}.`;
}

/** Breaks lines between words, each with `indent` before it. */
export function wrap(text: string, indent: string): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return [...lines, line].join("\n");
}
