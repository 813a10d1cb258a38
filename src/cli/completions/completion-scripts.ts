import type { CompletionEntry, CompletionFlag } from "./completion-table.ts";

/** The shells that a script can be written for. */
export const shells = ["bash", "zsh", "fish"] as const;

/** One of {@link shells}. */
export type Shell = (typeof shells)[number];

/** Writes the script that makes a shell complete the command line of `snowlane`. */
export function completionScript(shell: Shell, table: readonly CompletionEntry[]): string {
  switch (shell) {
    case "bash":
      return `# For ~/.bashrc: source <(snowlane completions bash)\n${choicesFunctions(table)}${bashEnd}`;
    case "zsh":
      return `#compdef snowlane\n# For ~/.zshrc, after compinit: source <(snowlane completions zsh)\n${choicesFunctions(table)}${zshEnd}`;
    case "fish":
      return `# For ~/.config/fish/config.fish: snowlane completions fish | source\n${fishLines(table)}`;
  }
}

/** Printed in place of choices where a file is wanted. */
const filesMark = "(files)";

/**
 * Functions that both bash and zsh can run. `_snowlane_command FIRST SECOND` prints the command that two words call;
 * `_snowlane_choices COMMAND BEFORE` prints what may come after a word, with a tab and a description on each line.
 */
function choicesFunctions(table: readonly CompletionEntry[]): string {
  const ofTwo = table.filter(({ command }) => command.includes(" ")).map(({ command }) => quote(command));
  return `_snowlane_command() {
  case "$1 $2" in
    ${ofTwo.join(" | ")}) printf '%s' "$1 $2" ;;
    *) printf '%s' "$1" ;;
  esac
}
_snowlane_choices() {
  case "$1" in
${table.map(choicesOf).join("\n")}
  esac
}
`;
}

function choicesOf({ command, words, flags }: CompletionEntry): string {
  const values = flags.filter(({ value }) => value.kind !== "none").map(valuesOf);
  const given = words.map(({ word, about }) => quote(`${word}\t${about}`));
  const lines = [...given, ...flags.map(({ name, about }) => quote(`--${name}\t${about}`))];
  const cases = values.length === 0 ? "" : `\n      case "$2" in\n${values.join("\n")}\n      esac`;
  return `    ${quote(command)})${cases}
      printf '%s\\n' ${lines.join(" \\\n        ")} ;;`;
}

function valuesOf({ name, short, value }: CompletionFlag): string {
  const pattern = short === undefined ? `--${name}` : `--${name} | -${short}`;
  const given = value.kind === "words" ? value.words : value.kind === "file" ? [filesMark] : [];
  const print = given.length === 0 ? "" : `printf '%s\\n' ${given.map(quote).join(" ")}; `;
  return `        ${pattern}) ${print}return ;;`;
}

const bashEnd = `_snowlane() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} first='' second='' choices
  [ "$COMP_CWORD" -gt 1 ] && first=\${COMP_WORDS[1]}
  [ "$COMP_CWORD" -gt 2 ] && second=\${COMP_WORDS[2]}
  choices=$(_snowlane_choices "$(_snowlane_command "$first" "$second")" "$before" | cut -f 1)
  local IFS=$'\\n'
  # Words are split only at ends of lines, and the bash of macOS has no mapfile.
  # shellcheck disable=SC2207
  if [ "$choices" = '${filesMark}' ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
  fi
}
complete -F _snowlane snowlane
`;

const zshEnd = `_snowlane() {
  local first='' second=''
  local -a lines
  (( CURRENT > 2 )) && first=$words[2]
  (( CURRENT > 3 )) && second=$words[3]
  lines=("\${(@f)$(_snowlane_choices "$(_snowlane_command "$first" "$second")" "$words[CURRENT-1]")}")
  if [[ $lines[1] == '${filesMark}' ]]; then
    _files
  else
    lines=("\${(@)lines/$'\\t'/:}")
    _describe 'snowlane' lines
  fi
}
compdef _snowlane snowlane
`;

function fishLines(table: readonly CompletionEntry[]): string {
  const ofTwo = table.filter(({ command }) => command.includes(" ")).map(({ command }) => fishQuote(command));
  const rules = table.flatMap(({ command, words, flags }) => {
    const start = `complete -c snowlane -n ${fishQuote(`_snowlane_calls ${fishQuote(command)}`)}`;
    return [
      ...words.map(({ word, about }) => `${start} -a ${word}${about === "" ? "" : ` -d ${fishQuote(about)}`}`),
      ...flags.map((flag) => `${start} ${fishFlag(flag)}`),
    ];
  });
  return `function _snowlane_calls
  set -l words (commandline -opc)
  set -l called "$words[2]"
  contains -- "$words[2] $words[3]" ${ofTwo.join(" ")}; and set called "$words[2] $words[3]"
  test "$called" = "$argv[1]"
end
complete -c snowlane -f
${rules.join("\n")}
`;
}

function fishFlag({ name, short, about, value }: CompletionFlag): string {
  const names = `${short === undefined ? "" : `-s ${short} `}-l ${name}`;
  const needs = { none: "", file: " -rF", any: " -x", words: " -x" }[value.kind];
  const words = value.kind === "words" ? ` -a ${fishQuote(value.words.join(" "))}` : "";
  return `${names}${needs}${words} -d ${fishQuote(about)}`;
}

/** Quotes a text for bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
