import type { Readable, Writable } from "node:stream";
import { readConfigFile } from "../config/config-file.ts";
import { type LoadedSettings, loadSettings, refuseProblems, type SettingProblem } from "../config/load-settings.ts";
import { serverSettings } from "../config/server-settings.ts";
import type { SettingGroup } from "../config/setting-groups.ts";
import { environmentName, flagName, type Setting, type Settings, type SettingValues } from "../config/setting.ts";
import { withStoreFile } from "../config/store-file-setting.ts";
import { hasPassword } from "../config/store-url.ts";
import { onOff, text } from "../config/setting-kinds.ts";
import { briefHelp, callOf, fullHelp, type HelpSource } from "./help.ts";
import { parseFlags } from "./parse-flags.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** The process that runs a command: its streams, variables and signals. */
export interface CommandContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Signals, and the end of the process. */
  readonly process: Pick<NodeJS.Process, "on" | "off" | "exit" | "kill" | "pid">;
  /** Loads every command, for the one that describes them all. */
  loadCommands(): Promise<readonly Command[]>;
}

/** The input of a command. */
export interface CommandInput<S extends Settings, O extends Settings> extends CommandContext {
  readonly settings: SettingValues<S>;
  /** Where each setting was given, for display. */
  readonly places: { readonly [K in keyof S]: string };
  readonly options: SettingValues<O>;
  readonly positionals: readonly string[];
}

/** One command of `snowlane`. */
export interface Command<S extends Settings = Settings, O extends Settings = Settings> {
  readonly name: string;
  /** The text that a user types to call it; absent: `snowlane` and its name. */
  readonly call?: string;
  /** One line without a full stop. */
  readonly summary: string;
  /** The arguments after the options in the usage line; absent where there are none. */
  readonly positional?: {
    readonly placeholder: string;
    readonly doc: string;
    /** All words that can be given, where they are few. */
    readonly words?: readonly string[];
  };
  /** Given by flags, environment and file. */
  readonly settings: S;
  /**
   * The subjects under which --help-all lists the settings, and --help only those of the first one; absent: there is
   * one list, and no --help-all.
   */
  readonly groups?: readonly SettingGroup[];
  /** Given only by flags. */
  readonly options: O;
  /**
   * Whether the command itself handles an output that cannot be written; a server does, and goes on. Absent: it ends.
   */
  readonly outlivesOutput?: true;
  /** Command lines that work. */
  readonly examples: readonly string[];
  /** The problems of the settings together; also called when some are wrong by themselves. */
  check?(
    settings: SettingValues<S>,
    options: SettingValues<O>,
    environment: CommandContext["environment"],
  ): readonly SettingProblem[];
  /** @returns The exit code. @throws IdError, CommandError. */
  run(input: CommandInput<S, O>): Promise<number>;
}

const helpOption = { help: onOff({ name: "help", short: "h", doc: "Prints this help." }) };
const helpAllOption = { helpAll: onOff({ name: "helpAll", doc: "Prints every setting, by subject." }) };
const configOption = {
  config: text({
    name: "config",
    placeholder: "FILE",
    doc: "A file with one JSON object of settings, named as in docs/configuration.md. The environment and flags win over it.",
  }),
};

/** The flags of a command: settings, its own options, and those that every command has. */
function helpFlagsOf({
  settings,
  groups,
  options,
}: Pick<Command, "settings" | "groups" | "options">): Pick<HelpSource, "flags" | "settings"> {
  const config = Object.keys(settings).length > 0 ? configOption : {};
  const helpAll = groups === undefined ? {} : helpAllOption;
  const flags = [options, config, helpOption, helpAll].flatMap((table) => Object.values<Setting<unknown>>(table));
  return { flags, settings: Object.values(settings) };
}

/** Gives all flags of a command: its own, those of its settings, and those that every command has. */
export function flagsOf(command: Command): readonly Setting<unknown>[] {
  const { flags, settings } = helpFlagsOf(command);
  return [...flags, ...settings];
}

/**
 * Parses the arguments of a command and runs it.
 *
 * @throws IdError INVALID_CONFIG with all that is wrong, and what the command throws.
 */
export async function runCommand(command: Command, args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseFlags({
    known: flagsOf(command),
    takesWords: command.positional !== undefined,
    help: `${callOf(command)} ${command.groups === undefined ? "--help" : "--help-all"}`,
    args,
  });
  const { flags, positionals, problems } = parsed;
  if (flags["help"] === "true" || flags["helpAll"] === "true") {
    const help = flags["helpAll"] === "true" ? fullHelp : briefHelp;
    context.stdout.write(help({ ...command, ...helpFlagsOf(command) }));
    return 0;
  }
  const path = flags["config"] ?? context.environment["SNOWLANE_CONFIG"];
  const fromFile =
    path === undefined || Object.keys(command.settings).length === 0
      ? { problems: [] }
      : readConfigFile(path, { ...serverSettings, ...command.settings });
  const loaded = withStoreFile(
    loadSettings(command.settings, { flags, environment: context.environment, ...fileOf(fromFile) }),
  );
  const options = loadSettings(command.options, { flags, environment: {} });
  const alone = [...problems, ...fromFile.problems, ...loaded.problems, ...options.problems];
  const wrong = [...parsed.wrong, ...refusedOf(command.settings, loaded), ...refusedOf(command.options, options)];
  const together = command.check?.(loaded.values, options.values, context.environment) ?? [];
  const all = parsed.hasStrayWords ? alone : [...alone, ...together.filter((problem) => !isOfMistake(problem, wrong))];
  for (const line of unknownVariables(context.environment)) context.stderr.write(`snowlane: ${line}\n`);
  if (all.length > 0) refuseProblems(all);
  for (const line of passwordWarnings({ ...command.settings, ...command.options }, flags)) {
    context.stderr.write(`snowlane: ${line}\n`);
  }
  return command.run({
    ...context,
    settings: loaded.values,
    places: loaded.places,
    options: options.values,
    positionals,
  });
}

function fileOf({ file }: ReturnType<typeof readConfigFile>) {
  return file === undefined ? {} : { file };
}

/** The flags of the settings whose text was refused. */
function refusedOf<S extends Settings>(settings: S, { places, problems }: LoadedSettings<S>): readonly string[] {
  return Object.entries<Setting<unknown>>(settings)
    .filter(([key]) => problems.some(({ place }) => place === places[key]))
    .map(([, setting]) => flagName(setting));
}

/**
 * Tells whether a problem of the settings together only repeats that a flag was written wrongly: `range --form
 * yesterday` says that there is no --form, and not also that --from is missing.
 */
function isOfMistake({ place, hint }: SettingProblem, wrong: readonly string[]): boolean {
  return wrong.some((flag) => new RegExp(`--${flag}(?![a-z-])`).test(`${place} ${hint}`));
}

/** Passwords that were given as flags, which every user of the machine may read in the list of processes. */
function passwordWarnings(settings: Settings, flags: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(settings)
    .filter(({ name, redact }) => redact !== undefined && (flags[name] ?? "").split(" ").some(hasPassword))
    .map((setting) => {
      const other = setting.name === "store" ? ", or --store-file" : "";
      const flag = `--${flagName(setting)}`;
      return `Every user of this machine can see the password in ${flag}. Give ${environmentName(setting)}${other} instead.`;
    });
}
