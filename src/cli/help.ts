import { environmentName, flagName, type Setting } from "../config/setting.ts";

const width = 100;

/** The parts of the help of a command. */
export interface HelpSource {
  readonly name: string;
  /** See Command. */
  readonly call?: string;
  readonly summary: string;
  readonly positional?: { readonly placeholder: string; readonly doc: string };
  readonly examples: readonly string[];
  /** Given as flags only. */
  readonly flags: readonly Setting<unknown>[];
  /** Given as flags, in the environment or in a file. */
  readonly settings: readonly Setting<unknown>[];
  /** The subjects under which the settings are listed; absent: all under one. */
  readonly groups?: readonly SettingGroup[];
}

/** Settings of one subject, by their names. */
export interface SettingGroup {
  readonly title: string;
  readonly names: readonly string[];
}

/** The text that a user types to call a command, before its arguments. */
export function callOf({ name, call = `snowlane ${name}` }: Pick<HelpSource, "name" | "call">): string {
  return call;
}

/** Writes the help of a command: what it does, how it is called, and every flag. */
export function helpText(source: HelpSource): string {
  const { call, summary, positional, examples, flags } = source;
  const usage = [callOf(source), "[options]", positional?.placeholder].filter(Boolean).join(" ");
  const parts = [`${summary}.\n\nUsage: ${usage}`];
  if (positional !== undefined) parts.push(wrap(positional.doc, ""));
  parts.push(`Options:\n${flags.map((flag) => entry(flag, undefined)).join("\n")}`);
  parts.push(...settingParts(source));
  parts.push(`Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
  if (call === undefined) parts.push("Exit codes: see snowlane --help.");
  return `${parts.join("\n\n")}\n`;
}

function settingParts({ settings, groups }: HelpSource): readonly string[] {
  if (settings.length === 0) return [];
  const rule = "a flag wins over the environment, the environment over --config";
  if (groups === undefined) return [`Settings (${rule}):\n${entriesOf(settings)}`];
  const parts = groups.map(({ title, names }) => {
    const ofGroup = names.map((name) => settings.find((setting) => setting.name === name));
    return `${title}:\n${entriesOf(ofGroup.filter((setting) => setting !== undefined))}`;
  });
  const others = settings.filter(({ name }) => !groups.some(({ names }) => names.includes(name)));
  const rest = others.length === 0 ? [] : [`Others:\n${entriesOf(others)}`];
  return [`Settings follow, by subject: ${rule}.`, ...parts, ...rest];
}

function entriesOf(settings: readonly Setting<unknown>[]): string {
  return settings.map((setting) => entry(setting, environmentName(setting))).join("\n");
}

function entry(setting: Setting<unknown>, environment: string | undefined): string {
  const short = setting.short === undefined ? "" : `-${setting.short}, `;
  const value = setting.placeholder === "" ? "" : ` ${setting.placeholder}`;
  const isSwitch = setting.placeholder === "";
  const fallback = setting.fallback === undefined || isSwitch ? "" : ` Default: ${setting.format(setting.fallback)}.`;
  const variable = environment === undefined ? "" : ` [${environment}]`;
  return `  ${short}--${flagName(setting)}${value}\n${wrap(`${setting.doc}${fallback}${variable}`, "      ")}`;
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
