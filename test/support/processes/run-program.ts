import { inspect } from "node:util";
import { runCommand } from "../../../src/cli/command.ts";
import { CommandError, exitCodeOf, exitCodes } from "../../../src/cli/exit-code.ts";
import { refuseProblems } from "../../../src/config/load-settings.ts";
import { flagName, type Settings, type SettingValues } from "../../../src/config/setting.ts";
import { IdError } from "../../../src/errors.ts";

/** A program of this repository that `npm run` starts. */
export interface Program<O extends Settings> {
  /** The text that a user types to call it: `npm run simulate --`. */
  readonly call: string;
  /** One line without a full stop. */
  readonly summary: string;
  /** By the kinds of src/config/setting-kinds.ts. */
  readonly options: O;
  /**
   * The words that it takes beside its options, and what they choose; absent: none. "call": they start another program,
   * and all that follows the first one is that program's.
   */
  readonly words?: { readonly placeholder: string; readonly doc: string; readonly known: readonly string[] | "call" };
  /** Command lines that work. */
  readonly examples: readonly string[];
  /** @returns The exit code. */
  run(options: SettingValues<O>, words: readonly string[]): Promise<number>;
}

/**
 * Runs a program as its arguments say, and ends the process with its exit code. `--help` prints how it is called; what
 * is wrong with the arguments is said in a line each, and the exit code is 2. The same as every command of `snowlane`.
 */
export async function runProgram<O extends Settings>(program: Program<O>): Promise<never> {
  const { call, summary, options, words, examples } = program;
  const { stdin, stdout, stderr, env: environment } = process;
  try {
    const code = await runCommand(
      {
        name: call,
        call,
        summary,
        options,
        examples,
        settings: {},
        ...(words === undefined ? {} : { positional: words }),
        run: async (input) => {
          if (words?.known !== "call") refuseUnknown(input.positionals, words?.known ?? []);
          return await program.run(input.options as SettingValues<O>, input.positionals);
        },
      },
      words?.known === "call" ? splitAtCall(options, process.argv.slice(2)) : process.argv.slice(2),
      // No program of the repository describes other commands.
      { stdin, stdout, stderr, environment, process, loadCommands: () => Promise.resolve([]) },
    );
    process.exit(code);
  } catch (error) {
    const isSaid = error instanceof IdError || error instanceof CommandError;
    stderr.write(`${isSaid ? error.message : inspect(error)}\n`);
    process.exit(isSaid ? exitCodeOf(error) : exitCodes.refused);
  }
}

/** Puts `--` before the first word, unless the user did. */
function splitAtCall(options: Settings, args: readonly string[]): readonly string[] {
  const valued = Object.values(options).filter(({ placeholder }) => placeholder !== "");
  const needsValue = (arg: string | undefined): boolean => valued.some((option) => `--${flagName(option)}` === arg);
  const start = args.findIndex((arg, index) => arg === "--" || !(arg.startsWith("-") || needsValue(args[index - 1])));
  return start < 0 || args[start] === "--" ? args : [...args.slice(0, start), "--", ...args.slice(start)];
}

function refuseUnknown(words: readonly string[], known: readonly string[]): void {
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0) refuseProblems(unknown.map((place) => ({ place, hint: `There are: ${known.join(", ")}.` })));
}
