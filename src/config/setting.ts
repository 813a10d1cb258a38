/** Refuses a text, and describes a good one: a clause that follows "give ". */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

/**
 * One setting: how it is written, what it means, and its value when none is given. docs/adr/0020 says why no package
 * does this.
 */
export interface Setting<T> {
  /**
   * The name in camel case. The flag is `--kebab-case`, the environment name `SNOWLANE_UPPER_SNAKE`, the key in a
   * configuration file the name itself.
   */
  readonly name: string;
  /** One letter for the command line; absent for most. */
  readonly short?: string;
  /** Flags of other programs for the same, without their dashes: a user who writes one is pointed to this setting. */
  readonly namesElsewhere?: readonly string[];
  /** The word for the value in a usage line, in upper case; empty for a switch, which takes no value. */
  readonly placeholder: string;
  /** All values, where they are a few words; or some of them, to be offered. */
  readonly words?: readonly string[];
  /** Both ends of the range of a number, inclusive; absent where the value is not a number. */
  readonly range?: { readonly min: number; readonly max: number };
  /**
   * What it does, in the first sentence; then what values it takes and in which range, and "Default: ..." where there
   * is no `fallback`.
   */
  readonly doc: string;
  /**
   * The value when none is given; absent where there is none, or where it depends on other settings (then `doc` says
   * how).
   */
  readonly fallback?: T;
  /** @throws SettingError if `text` is not a value of this setting. */
  parse(text: string): T;
  /** The text that parses to `value`. */
  format(value: T): string;
  /** The text as it may be shown, where it can hold a secret. */
  readonly redact?: (text: string) => string;
}

/** The value of a setting, undefined where none is given and there is no fallback. */
type SettingValue<S> =
  S extends Setting<infer T> ? (S extends { readonly fallback: unknown } ? T : T | undefined) : never;

/** Settings by their name in code. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, by the same names. */
export type SettingValues<S> = { readonly [K in keyof S]: SettingValue<S[K]> };

/** `drainTimeout` to `drain-timeout`. */
export function flagName(setting: { readonly name: string }): string {
  return setting.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `drainTimeout` to `SNOWLANE_DRAIN_TIMEOUT`. */
export function environmentName(setting: { readonly name: string }): string {
  return `SNOWLANE_${flagName(setting).replaceAll("-", "_").toUpperCase()}`;
}

/** Takes from a doc its first sentence, which says what the setting does, and the one that says its default. */
export function docParts(doc: string): { readonly summary: string; readonly fallback: string | undefined } {
  const [summary = "", ...others] = doc.split(/(?<=[^.]\.) (?=[A-Z0-9])/);
  return { summary, fallback: others.find((sentence) => sentence.startsWith("Default")) };
}

/** Gives a setting the value that it has when none is given. */
export function withFallback<T>(setting: Setting<T>, fallback: T): Setting<T> & { readonly fallback: T } {
  return { ...setting, fallback };
}
