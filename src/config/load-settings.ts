import { IdError } from "../errors.ts";
import { redactStray } from "./store-url.ts";
import { environmentName, flagName, type Setting, SettingError, type Settings, type SettingValues } from "./setting.ts";

/** The texts given for settings; a flag wins over the environment, the environment over the file. */
export interface SettingSources {
  /** The texts by setting name. */
  readonly flags: Readonly<Record<string, string>>;
  /** The texts by environment name: the process's own environment, unchanged. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The texts by setting name, and the file's path. */
  readonly file?: { readonly path: string; readonly texts: Readonly<Record<string, string>> };
}

/** A problem with a setting, and what to do about it. */
export interface SettingProblem {
  /** Where the value was given, for example `--listen` or `SNOWLANE_LISTEN`. */
  readonly place: string;
  /** As given, without its secret where the setting is one; absent where nothing was given. */
  readonly value?: string;
  /** A clause that follows "give ", or sentences of their own, with their full stop. */
  readonly hint: string;
}

/** Settings as they were found: good values, where each was given, and all problems. */
export interface LoadedSettings<S extends Settings> {
  /** The values by name in code; the default where nothing good was given. */
  readonly values: SettingValues<S>;
  /** The places by name in code: `--flag`, the environment name, the file's path, or `default`. */
  readonly places: { readonly [K in keyof S]: string };
  /** One for each text that was refused; empty if all are good. */
  readonly problems: readonly SettingProblem[];
}

/** Finds the value of each setting. Never throws: all problems are in the result. */
export function loadSettings<S extends Settings>(settings: S, sources: SettingSources): LoadedSettings<S> {
  const values: Record<string, unknown> = {};
  const places: Record<string, string> = {};
  const problems: SettingProblem[] = [];
  for (const [key, setting] of Object.entries(settings)) {
    const said = findText(setting, sources);
    places[key] = said?.place ?? "default";
    values[key] = setting.fallback;
    if (said === undefined) continue;
    try {
      values[key] = setting.parse(said.text);
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      const value = setting.redact?.(said.text) ?? said.text;
      problems.push({ place: said.place, value, hint: error.message });
    }
  }
  return { values, places, problems } as unknown as LoadedSettings<S>;
}

function findText(setting: Setting<unknown>, { flags, environment, file }: SettingSources) {
  const flag = flags[setting.name];
  if (flag !== undefined) return { place: `--${flagName(setting)}`, text: flag };
  const variable = environment[environmentName(setting)];
  // An empty variable means "not set", because people write it to undo a setting.
  if (variable !== undefined && variable !== "") return { place: environmentName(setting), text: variable };
  const text = file?.texts[setting.name];
  return text === undefined ? undefined : { place: `${setting.name} in ${file?.path}`, text };
}

/**
 * The URL of a store may have been given to any flag by mistake: its password is hidden in all of them.
 *
 * @throws IdError INVALID_CONFIG with a line for each problem.
 */
export function refuseProblems(found: readonly SettingProblem[]): never {
  const problems = found.map(({ place, value, hint }) => ({
    place,
    value: value === undefined ? undefined : redactStray(value),
    hint,
  }));
  const lines = problems.map(({ place, value, hint }) => {
    const sentence = /[.?]$/.test(hint) ? hint : `Give ${hint}.`;
    return value === undefined ? `${place}: ${sentence}` : `${place} is ${JSON.stringify(value)}. ${sentence}`;
  });
  const metadata = Object.fromEntries(problems.map(({ place, value }) => [place, value ?? ""]));
  throw new IdError("INVALID_CONFIG", lines.join("\n"), { metadata });
}
