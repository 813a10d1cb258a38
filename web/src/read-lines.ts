import { type LineReading, linesOf, readLineBriefly } from "./read-line.ts";
import { chosenLayout } from "./layout-field.ts";
import type { Change, State } from "./state.ts";

/** Lines that are read between two frames: a few milliseconds of work. */
const pieceSize = 100;

/**
 * Makes the next state after the text, the form or the layout of Parse changed, and begins to read the lines in pieces
 * where there are several. A run that is overtaken by a newer one ends by itself.
 */
export function beginReading(change: Change): void {
  change((state) => {
    const { text, leftOutCount } = state.parse;
    const read = linesOf(text);
    if (read.lines.length < 2) return { ...state, parse: { ...state.parse, lines: undefined } };
    const lines = { pieces: [], count: read.lines.length, readCount: 0 };
    const parse = { ...state.parse, lines, leftOutCount: Math.max(leftOutCount, read.leftOutCount) };
    void readOn(change, { ...state, parse }, read.lines);
    return { ...state, parse };
  });
}

async function readOn(change: Change, begun: State, lines: readonly string[]): Promise<void> {
  const { layout } = chosenLayout(begun);
  let own = begun.parse.lines;
  for (let at = 0; at < lines.length && own !== undefined; at += pieceSize) {
    await nextFrame();
    const before = own;
    const piece: readonly LineReading[] = lines
      .slice(at, at + pieceSize)
      .map((line) => readLineBriefly(line, { layout, form: begun.parse.form, nowMs: begun.nowMs }));
    own = { ...before, pieces: [...before.pieces, piece], readCount: before.readCount + piece.length };
    const after = own;
    let isOvertaken = false;
    change((state) => {
      isOvertaken = state.parse.lines !== before;
      return isOvertaken ? state : { ...state, parse: { ...state.parse, lines: after } };
    });
    if (isOvertaken) return;
  }
}

/** A tab in the background gets no frames, so a timer goes beside them. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}
