import { parseArgs } from "node:util";
import type { SettingProblem } from "../config/load-settings.ts";
import { flagName, type Setting } from "../config/setting.ts";
import { redactStray } from "../config/store-url.ts";
import { nearest } from "../config/suggestion.ts";

/** The arguments of a command as they were found, and all that is wrong with them. */
export interface ParsedFlags {
  /** Texts by setting name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly positionals: readonly string[];
  readonly problems: readonly SettingProblem[];
  /** The known flags that something was wrong with, or that an unknown flag was meant to be. */
  readonly wrong: readonly string[];
  /** Whether words were given to a command that takes none. */
  readonly hasStrayWords: boolean;
}

/** The input of {@link parseFlags}. */
export interface FlagSource {
  /** The flags that the command has. */
  readonly known: readonly Setting<unknown>[];
  /** Whether the command takes words besides flags. */
  readonly takesWords: boolean;
  /** The text that a user types to see all flags of the command. */
  readonly help: string;
  /** The words after the command's name, as the shell gave them. */
  readonly args: readonly string[];
}

/**
 * Reads the arguments of a command: parseArgs without its strictness, which would stop at the first fault.
 *
 * One mistake gives one problem: the value of an unknown flag is not reported as well, and surplus words are reported
 * together.
 */
export function parseFlags({ known, takesWords, help, args }: FlagSource): ParsedFlags {
  const settings = new Map(known.map((setting) => [flagName(setting), setting]));
  const flags: Record<string, string> = {};
  const positionals: string[] = [];
  const problems: SettingProblem[] = [];
  const wrong: string[] = [];
  let isAfterUnknown = false;
  for (const token of tokensOf(settings, args)) {
    const isValueOfUnknown = isAfterUnknown && token.kind === "positional";
    isAfterUnknown = false;
    if (token.kind === "option-terminator" || isValueOfUnknown) continue;
    if (token.kind === "positional") {
      positionals.push(token.value);
      continue;
    }
    const setting = settings.get(token.name);
    const place = token.rawName;
    if (setting === undefined) {
      const { hint, meant } = unknownFlag(token.name, settings, help);
      problems.push({ place, hint });
      wrong.push(...meant);
      isAfterUnknown = token.value === undefined;
      continue;
    }
    const hint = misuse(setting, token.value, flags[setting.name] !== undefined);
    if (hint === undefined) flags[setting.name] = token.value ?? "true";
    else {
      problems.push({ place, hint });
      wrong.push(token.name);
    }
  }
  const hasStrayWords = positionals.length > 0 && !takesWords;
  if (hasStrayWords)
    problems.push({ place: positionals.map(redactStray).join(" "), hint: "This command takes flags only." });
  return { flags, positionals, problems, wrong, hasStrayWords };
}

function tokensOf(settings: ReadonlyMap<string, Setting<unknown>>, args: readonly string[]) {
  const options = Object.fromEntries(
    [...settings].map(([name, { placeholder, short }]) => [
      name,
      {
        type: placeholder === "" ? ("boolean" as const) : ("string" as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/** Says what to write in place of a flag that is not known, and which known flags that names. */
function unknownFlag(name: string, settings: ReadonlyMap<string, Setting<unknown>>, help: string) {
  const elsewhere = [...settings].find(([, { namesElsewhere = [] }]) => namesElsewhere.includes(name));
  if (elsewhere !== undefined) {
    const [flag, { placeholder }] = elsewhere;
    return { hint: `There is no such flag. Use --${flag} ${placeholder}.`, meant: [flag] };
  }
  const near = nearest(name, settings.keys());
  const guess = near === undefined ? "" : ` Did you mean --${near}?`;
  return { hint: `There is no such flag.${guess} See ${help}.`, meant: near === undefined ? [] : [near] };
}

/** Says what is wrong with the use of a known flag; undefined where nothing is. */
function misuse({ placeholder }: Setting<unknown>, value: string | undefined, isGiven: boolean): string | undefined {
  if (isGiven) return "Give it once.";
  if (placeholder === "" && value !== undefined) return "It takes no value.";
  if (placeholder !== "" && value === undefined) return `It needs a value: ${placeholder}.`;
  return undefined;
}
