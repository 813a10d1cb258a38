import { type Command, flagsOf } from "../command.ts";
import { completionScript, shells } from "./completion-scripts.ts";
import { completionTable } from "./completion-table.ts";
import { CommandError, exitCodes } from "../exit-code.ts";

/** `snowlane completions`. */
export const completions: Command = {
  name: "completions",
  summary: "Prints the script with which bash, zsh or fish completes commands, flags and their values",
  positional: { placeholder: shells.join("|"), doc: "The shell.", words: shells },
  settings: {},
  options: {},
  examples: [
    "source <(snowlane completions bash)",
    "source <(snowlane completions zsh)",
    "snowlane completions fish | source",
  ],
  run: async ({ positionals, stdout, ...context }) => {
    const shell = shells.find((candidate) => candidate === positionals[0]);
    if (shell === undefined || positionals.length > 1) {
      throw new CommandError(`Name one shell: ${shells.join(", ")}.`, exitCodes.usage);
    }
    stdout.write(completionScript(shell, completionTable(await context.loadCommands(), flagsOf)));
    return exitCodes.done;
  },
};
