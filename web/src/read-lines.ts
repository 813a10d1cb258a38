import { loadChunk } from "./chunk.ts";
import { codecOf } from "./layout-choice.ts";
import { isSearched, type LineReading, linesOf, readLineBriefly } from "./read-line.ts";
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
    if (read.lines.length < 2) {
      const next = { ...state, parse: { ...state.parse, lines: undefined, found: undefined } };
      void findInLine(change, next, read.lines[0] ?? "");
      return next;
    }
    const lines = { pieces: [], count: read.lines.length, readCount: 0 };
    const parse = { ...state.parse, lines, found: undefined, leftOutCount: Math.max(leftOutCount, read.leftOutCount) };
    void readOn(change, { ...state, parse }, read.lines);
    return { ...state, parse };
  });
}

/** Looks for the IDs in a line that is in no form: one of them is read like a line of its own, several as a table. */
async function findInLine(change: Change, begun: State, line: string): Promise<void> {
  const { layout } = chosenLayout(begun);
  const { form } = begun.parse;
  if (!isSearched(readLineBriefly(line, { layout, form, nowMs: begun.nowMs }), form)) return;
  const finder = await loadChunk(change, () => import("./finder.ts"));
  const texts = finder?.foundTexts(line, codecOf(layout), begun.nowMs) ?? [];
  if (texts.length === 0) return;
  const lines = texts.length === 1 ? undefined : { pieces: [], count: texts.length, readCount: 0 };
  let next: State | undefined;
  change((state) => {
    const isSame = state.parse.text === begun.parse.text && state.layout === begun.layout && state.parse.form === form;
    next = isSame ? { ...state, parse: { ...state.parse, lines, found: { text: line, texts } } } : undefined;
    return next ?? state;
  });
  if (next !== undefined && lines !== undefined) await readOn(change, next, texts);
}

async function readOn(change: Change, begun: State, lines: readonly string[]): Promise<void> {
  let own = begun.parse.lines;
  for (let at = 0; at < lines.length && own !== undefined; at += pieceSize) {
    await nextFrame();
    const before = own;
    const taken = lines.slice(at, at + pieceSize);
    const piece = await readPiece(change, begun, taken);
    own = { ...before, pieces: [...before.pieces, piece], readCount: before.readCount + taken.length };
    const after = own;
    let isOvertaken = false;
    change((state) => {
      isOvertaken = state.parse.lines !== before;
      return isOvertaken ? state : { ...state, parse: { ...state.parse, lines: after } };
    });
    if (isOvertaken) return;
  }
}

/** Reads lines; one that is in no form gives a reading for each ID that is found in it. */
async function readPiece(change: Change, begun: State, lines: readonly string[]): Promise<readonly LineReading[]> {
  const { layout } = chosenLayout(begun);
  const options = { layout, form: begun.parse.form, nowMs: begun.nowMs };
  const readings = lines.map((line) => readLineBriefly(line, options));
  if (!readings.some((reading) => isSearched(reading, options.form))) return readings;
  const finder = await loadChunk(change, () => import("./finder.ts"));
  return readings.flatMap((reading) => {
    if (finder === undefined || !isSearched(reading, options.form)) return [reading];
    const found = finder.foundTexts(reading.line, codecOf(layout), begun.nowMs);
    return found.length === 0 ? [reading] : found.map((text) => readLineBriefly(text, options));
  });
}

/** A tab in the background gets no frames, so a timer goes beside them. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}
