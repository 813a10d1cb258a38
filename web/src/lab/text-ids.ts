import type { Find } from "../../../src/text/find/find.ts";
import { chosenLayout } from "../layout-field.ts";
import { isSearched, linesOf, readLineBriefly } from "../read-line.ts";
import type { Entry, ReadLines, State } from "../state.ts";

/** An ID of the text, as the list of what was found shows it. */
export interface TextId extends Partial<Pick<Entry, "reading">> {
  readonly start: number;
  readonly end: number;
  /** The text that strict reading takes; of a number that can be no ID, the number. */
  readonly text: string;
  readonly find: Find | undefined;
}

const flat = new WeakMap<ReadLines, readonly TextId[]>();

/**
 * The IDs of the text in its order, with the numbers that can be none but were found all the same: what is marked, and
 * what a line holds as a whole (docs/adr/0210).
 */
export function idsOfText(state: State): readonly TextId[] {
  const { text, form, found, lines } = state.parse;
  if (lines !== undefined) {
    const known = flat.get(lines) ?? lines.pieces.flatMap((piece) => piece.flatMap(idOf));
    flat.set(lines, known);
    return known;
  }
  const read = linesOf(text);
  const [line] = read.lines;
  if (line === undefined) return [];
  const [start = 0] = read.starts;
  const [find] = found?.finds ?? [];
  const reading = readLineBriefly(line, { layout: chosenLayout(state).layout, form, nowMs: state.nowMs });
  if (find === undefined || !isSearched(reading, form)) return [{ start, end: start + line.length, text: line, find }];
  return [{ start: find.start, end: find.end, text: find.strict ?? text.slice(find.start, find.end), find }];
}

function idOf({ start, end, find, reading }: Entry): readonly TextId[] {
  return reading.kind === "refused" && find === undefined ? [] : [{ start, end, text: reading.line, find, reading }];
}
