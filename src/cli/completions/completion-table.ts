import { flagName, type Setting } from "../../config/setting.ts";
import type { Command } from "../command.ts";

/** Everything that can follow a command, as a shell offers it. */
export interface CompletionEntry {
  /** Empty for the program itself. */
  readonly command: string;
  /** The words that may follow, of this command's name or of its arguments. */
  readonly words: readonly CompletionWord[];
  readonly flags: readonly CompletionFlag[];
}

/** A word with its description, which is one line. */
interface CompletionWord {
  readonly word: string;
  readonly about: string;
}

/** A flag, and what its value may be. */
export interface CompletionFlag {
  /** The flag's name without its dashes. */
  readonly name: string;
  readonly short: string | undefined;
  readonly about: string;
  readonly value:
    | { readonly kind: "none" }
    | { readonly kind: "file" }
    | { readonly kind: "words"; readonly words: readonly string[] }
    | { readonly kind: "any" };
}

const aboutLengthMax = 72;

/** Makes the table from the commands and their settings; `flagsOf` gives all flags that a command takes. */
export function completionTable(
  commands: readonly Command[],
  flagsOf: (command: Command) => readonly Setting<unknown>[],
): readonly CompletionEntry[] {
  const named = commands.map(({ name, summary }) => ({ word: name, about: firstSentence(summary) }));
  const begins = new Set(named.map(({ word }) => word.split(" ")[0] ?? ""));
  const ofProgram = [...begins].map((word) => ({
    word,
    about: named.find((candidate) => candidate.word === word)?.about ?? `${word} ...`,
  }));
  const groups = [...begins].filter((word) => !named.some((candidate) => candidate.word === word));
  return [
    { command: "", words: ofProgram, flags: [] },
    ...groups.map((group) => ({ command: group, words: wordsAfter(group, named), flags: [] })),
    ...commands.map((command) => ({
      command: command.name,
      words: [...wordsAfter(command.name, named), ...(command.positional?.words ?? []).map(plain)],
      flags: flagsOf(command).map(flagOf),
    })),
  ];
}

function wordsAfter(name: string, named: readonly CompletionWord[]): readonly CompletionWord[] {
  return named
    .filter(({ word }) => word.startsWith(`${name} `))
    .map(({ word, about }) => ({ word: word.slice(name.length + 1), about }));
}

function plain(word: string): CompletionWord {
  return { word, about: "" };
}

function flagOf(setting: Setting<unknown>): CompletionFlag {
  const { short, placeholder, doc, words } = setting;
  const about = firstSentence(doc);
  const common = { name: flagName(setting), short, about };
  if (placeholder === "") return { ...common, value: { kind: "none" } };
  if (words !== undefined) return { ...common, value: { kind: "words", words } };
  const isPath = placeholder === "FILE" || placeholder === "DIR";
  return { ...common, value: { kind: isPath ? "file" : "any" } };
}

/** The first sentence of a doc, without its full stop, and not longer than a line of a menu. */
function firstSentence(doc: string): string {
  const [sentence = ""] = doc.split(/\.(?: |$)|[;:] /);
  return sentence.length > aboutLengthMax ? `${sentence.slice(0, aboutLengthMax - 3).trimEnd()}...` : sentence;
}
