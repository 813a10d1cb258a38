import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import { readConfigFile, suggestion } from "../config/config-file.ts";
import { loadSettings, refuseProblems, type SettingProblem } from "../config/load-settings.ts";
import { serverSettings } from "../config/server-settings.ts";
import { flagName, type Setting, type Settings, type SettingValues } from "../config/setting.ts";
import { onOff, text } from "../config/setting-kinds.ts";
import { callOf, type HelpSource, helpText } from "./help.ts";

/** The process around a command. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Signals, and the end of the process. */
  readonly process: Pick<NodeJS.Process, "on" | "off" | "exit" | "kill" | "pid">;
}

/** What a command is run with. */
export interface CommandInput<S extends Settings, O extends Settings> extends Surroundings {
  readonly settings: SettingValues<S>;
  /** Where each setting was said, for display. */
  readonly places: { readonly [K in keyof S]: string };
  readonly options: SettingValues<O>;
  readonly positionals: readonly string[];
}

/** One command of `snowlane`. */
export interface Command<S extends Settings = Settings, O extends Settings = Settings> {
  readonly name: string;
  /** What is typed to call it; absent: `snowlane` and its name. */
  readonly call?: string;
  /** One line without a full stop. */
  readonly summary: string;
  /** What stands behind the options in the usage line; absent where nothing may. */
  readonly positional?: { readonly placeholder: string; readonly doc: string };
  /** From flags, environment and file. */
  readonly settings: S;
  /** From flags alone. */
  readonly options: O;
  /** Command lines that work. */
  readonly examples: readonly string[];
  /** What is wrong with the settings together; asked also when some are wrong by themselves. */
  check?(
    settings: SettingValues<S>,
    options: SettingValues<O>,
    environment: Surroundings["environment"],
  ): readonly SettingProblem[];
  /** @returns The exit code. @throws IdError, CommandError. */
  run(input: CommandInput<S, O>): Promise<number>;
}

const commonOptions = {
  help: onOff({ name: "help", short: "h", doc: "Prints this." }),
};
const configOption = {
  config: text({
    name: "config",
    placeholder: "FILE",
    doc: "A file with one JSON object of settings, named as in docs/configuration.md. Environment and flags win over it.",
  }),
};

/** The flags of a command: settings, its own options, and those that every command has. */
function helpFlagsOf({
  settings,
  options,
}: Pick<Command, "settings" | "options">): Pick<HelpSource, "flags" | "settings"> {
  const config = Object.keys(settings).length > 0 ? configOption : {};
  const flags = [options, config, commonOptions].flatMap((table) => Object.values<Setting<unknown>>(table));
  return { flags, settings: Object.values(settings) };
}

/**
 * Parses the arguments of a command and runs it.
 *
 * @throws IdError INVALID_CONFIG with all that is wrong, and what the command throws.
 */
export async function runCommand(command: Command, args: readonly string[], around: Surroundings): Promise<number> {
  const { flags, positionals, problems } = parseFlags(command, args);
  if (flags["help"] === "true") {
    around.stdout.write(helpText({ ...command, ...helpFlagsOf(command) }));
    return 0;
  }
  const path = flags["config"] ?? around.environment["SNOWLANE_CONFIG"];
  const fromFile =
    path === undefined || Object.keys(command.settings).length === 0
      ? { problems: [] }
      : readConfigFile(path, { ...serverSettings, ...command.settings });
  const loaded = loadSettings(command.settings, { flags, environment: around.environment, ...fileOf(fromFile) });
  const options = loadSettings(command.options, { flags, environment: {} });
  const together = command.check?.(loaded.values, options.values, around.environment) ?? [];
  const all = [...problems, ...fromFile.problems, ...loaded.problems, ...options.problems, ...together];
  if (all.length > 0) refuseProblems(all);
  return command.run({
    ...around,
    settings: loaded.values,
    places: loaded.places,
    options: options.values,
    positionals,
  });
}

function fileOf({ file }: ReturnType<typeof readConfigFile>) {
  return file === undefined ? {} : { file };
}

interface ParsedFlags {
  readonly flags: Readonly<Record<string, string>>;
  readonly positionals: readonly string[];
  readonly problems: readonly SettingProblem[];
}

/** parseArgs without its strictness, which would stop at the first fault. */
function parseFlags(command: Command, args: readonly string[]): ParsedFlags {
  const { flags: own, settings: fromAnywhere } = helpFlagsOf(command);
  const settings = new Map([...own, ...fromAnywhere].map((setting) => [flagName(setting), setting]));
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      [...settings].map(([name, { placeholder, short }]) => [
        name,
        {
          type: placeholder === "" ? ("boolean" as const) : ("string" as const),
          ...(short === undefined ? {} : { short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Record<string, string> = {};
  const positionals: string[] = [];
  const problems: SettingProblem[] = [];
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (command.positional === undefined)
        problems.push({ place: token.value, cure: "This command takes flags only." });
      else positionals.push(token.value);
      continue;
    }
    const setting = settings.get(token.name);
    const place = token.rawName;
    if (setting === undefined) {
      const near = suggestion(token.name, settings.keys());
      problems.push({ place, cure: `There is no such flag.${near} See ${callOf(command)} --help.` });
    } else if (flags[setting.name] !== undefined) problems.push({ place, cure: "Give it once." });
    else if (setting.placeholder === "" && token.value !== undefined)
      problems.push({ place, cure: "It takes no value." });
    else if (setting.placeholder !== "" && token.value === undefined) {
      problems.push({ place, cure: `It needs a value: ${setting.placeholder}.` });
    } else flags[setting.name] = token.value ?? "true";
  }
  return { flags, positionals, problems };
}
