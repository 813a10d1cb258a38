import { styleText } from "node:util";

/** The meaning of a colour, which is the same in every command. */
export type Tone = "good" | "attention" | "bad";

/** Colours a text, or returns it as it is. */
export type Paint = (tone: Tone, text: string) => string;

const colours = { good: "green", attention: "yellow", bad: "red" } as const;

/**
 * Gives the paint for a stream: colour on a terminal, none into a pipe or a file. The variable FORCE_COLOR wins over
 * this and over NO_COLOR (no-color.org); `FORCE_COLOR=0` forces none.
 */
export function paintFor(
  { isTTY }: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Paint {
  const { FORCE_COLOR: forced = "", NO_COLOR: refused = "", TERM: terminal } = environment;
  const isWanted =
    forced === "" ? isTTY === true && refused === "" && terminal !== "dumb" : !["0", "false"].includes(forced);
  // The choice is made here, from the variables that the command was given.
  return isWanted ? (tone, text) => styleText(colours[tone], text, { validateStream: false }) : (_tone, text) => text;
}
