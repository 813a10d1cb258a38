import type { Find } from "../../src/text/find/find.ts";
import type { FoundIds } from "../../src/text/find/find-ids.ts";
import { afterSlice } from "./after-frame.ts";
import { loadChunk } from "./chunk.ts";
import { bestLayoutOf } from "./lab/best-layout.ts";
import { isExcluded } from "./lab/excluded.ts";
import { layoutChooser } from "./lab/reading-options.ts";
import { codecOf } from "./layout-choice.ts";
import { chosenLayout } from "./layout-field.ts";
import { isSearched, linesOf, readLineBriefly } from "./read-line.ts";
import { type Change, type Entry, firstList, type State } from "./state.ts";

/** Entries that are read between two frames: a few milliseconds of work. */
const pieceSize = 100;

/** A run that is overtaken by a newer one ends by itself. */
interface Run {
  readonly begun: State;
  readonly isOvertaken: (state: State) => boolean;
  readonly change: Change;
}

/**
 * Makes the next state after the text, the form or the layout of Parse changed, and begins to search the text and to
 * read its lines, in slices (docs/adr/0210).
 */
export function beginReading(change: Change): void {
  const run = Symbol("reading");
  change((state) => {
    const { text, leftOutCount } = state.parse;
    const read = linesOf(text);
    const parse = {
      ...state.parse,
      run,
      found: undefined,
      list: { ...firstList, slackMs: state.parse.list.slackMs },
      lines: read.lines.length < 2 ? undefined : { pieces: [], count: read.lines.length, readCount: 0 },
      leftOutCount: Math.max(leftOutCount, read.leftOutCount),
    };
    const begun = { ...state, parse };
    void readAll({ begun, change, isOvertaken: (now) => now.parse.run !== run });
    return begun;
  });
}

async function readAll(run: Run): Promise<void> {
  const { begun, change } = run;
  const { text } = begun.parse;
  const found = text.trim() === "" ? undefined : await search(run);
  if (found === undefined) return;
  const { lines, starts } = linesOf(text);
  const whole = lines.length === 1 ? readWhole(begun, lines[0]!) : undefined;
  const isOne = whole === "id" || (lines.length === 1 && found.finds.length < 2);
  const count = isOne ? 0 : lines.length;
  let next: State | undefined;
  change((state) => {
    if (run.isOvertaken(state)) return state;
    const parse = { ...state.parse, found, lines: isOne ? undefined : { pieces: [], count, readCount: 0 } };
    next = { ...state, parse };
    return next;
  });
  if (next !== undefined && !isOne) await readOn({ ...run, begun: next }, { lines, starts, found });
}

/** Whether a line is an ID as a whole, in a form that strict reading takes. */
function readWhole(begun: State, line: string): "id" | "text" {
  const { layout } = chosenLayout(begun);
  const { form } = begun.parse;
  return isSearched(readLineBriefly(line, { layout, form, nowMs: begun.nowMs }), form) ? "text" : "id";
}

/** Searches the text, a slice a frame; undefined where the run was overtaken, or the finder cannot be loaded. */
async function search({ begun, change, isOvertaken }: Run): Promise<FoundIds | undefined> {
  const finder = await loadChunk(change, () => import("./finder.ts"));
  if (finder === undefined) return { finds: [], times: [], readLength: 0 };
  const { text } = begun.parse;
  const slices = finder.searchText(text, codecOf(chosenLayout(begun).layout), begun.nowMs);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
    await afterSlice();
    let isOver = false;
    change((state) => {
      isOver = isOvertaken(state);
      return state;
    });
    if (isOver) return undefined;
  }
}

/** A text with what was found in it. */
interface Searched {
  readonly lines: readonly string[];
  readonly starts: readonly number[];
  readonly found: FoundIds;
}

async function readOn({ begun, change, isOvertaken }: Run, searched: Searched): Promise<void> {
  const { lines, starts, found } = searched;
  const read = entryReader(begun, found);
  const show = (piece: readonly Entry[], readCount: number): "on" | "over" => {
    let isOver = false;
    change((state) => {
      const { parse } = state;
      isOver = isOvertaken(state);
      if (isOver || parse.lines === undefined) return state;
      // The reader may leave IDs out while others are read.
      const left = piece.filter((entry) => !isExcluded(parse.excluded, entry));
      const pieces = left.length === 0 ? parse.lines.pieces : [...parse.lines.pieces, left];
      return { ...state, parse: { ...parse, lines: { ...parse.lines, pieces, readCount } } };
    });
    return isOver ? "over" : "on";
  };
  let piece: Entry[] = [];
  for (const [index, line] of lines.entries()) {
    for (const entry of read(line, starts[index]!)) {
      if (piece.length === pieceSize) {
        if (show(piece, index) === "over") return;
        piece = [];
        await afterSlice();
      }
      piece.push(entry);
    }
  }
  show(piece, lines.length);
}

/**
 * Makes the reader of a line: a line that is an ID as a whole is one entry; of any other line each find is one, and a
 * line without a find is one that says why. Finds are of all of the line, however much of it is read as a whole.
 */
function entryReader(begun: State, { finds }: FoundIds): (line: string, start: number) => Iterable<Entry> {
  const { form, text } = begun.parse;
  const { layout } = chosenLayout(begun);
  const options = { layout, form, nowMs: begun.nowMs };
  const choose = layoutChooser(begun, bestLayoutOf(finds, { ofServer: begun.server.info?.layout, nowMs: begun.nowMs }));
  let next = 0;
  const entry = (text: string, start: number, find: Find | undefined, end: number): Entry => ({
    start,
    end,
    find,
    reading: readLineBriefly(text, { ...options, layoutOf: (id) => choose(id, find?.maker) }),
  });
  return function* (line, start) {
    const end = start + line.length;
    const lineBreak = text.indexOf("\n", end);
    const lineEnd = lineBreak === -1 ? text.length : lineBreak;
    while (next < finds.length && finds[next]!.start < start) next++;
    const first = next;
    while (next < finds.length && finds[next]!.end <= lineEnd) next++;
    const own = finds.slice(first, next);
    const whole = entry(line, start, own.length === 1 ? own[0] : undefined, end);
    if (own.length === 0 || !isSearched(whole.reading, form)) yield whole;
    else
      for (const find of own) yield entry(find.strict ?? text.slice(find.start, find.end), find.start, find, find.end);
  };
}
