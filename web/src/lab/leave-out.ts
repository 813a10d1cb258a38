import { beginReading } from "../read-lines.ts";
import type { Change, ParseState, TextRange } from "../state.ts";
import { isExcluded } from "./excluded.ts";
import { idsOfText } from "./text-ids.ts";

/**
 * Leaves an ID of the text out of all that is shown, until the text changes or the reader takes it back. The text
 * itself stays, and the other IDs are read as before.
 */
export function leaveOut(change: Change, { start, end }: TextRange): void {
  change((state) => {
    const { parse } = state;
    const ids = idsOfText(state);
    const index = ids.findIndex((id) => id.start === start);
    if (index === -1) return state;
    const range = { start, end };
    const excluded = [...parse.excluded, range];
    const at = Math.max(0, Math.min(parse.at > index ? parse.at - 1 : parse.at, ids.length - 2));
    return {
      ...state,
      parse: {
        ...parse,
        ...without(parse, range),
        excluded,
        at,
        before: placeWithout(parse.before, index),
        field: undefined,
      },
    };
  });
}

function without({ lines }: ParseState, range: TextRange): Pick<ParseState, "lines"> {
  if (lines === undefined) return { lines };
  const pieces = lines.pieces.map((piece) => piece.filter((entry) => !isExcluded([range], entry)));
  return { lines: { ...lines, pieces } };
}

/** The place of an ID once the one at `index` is gone; undefined where it is that one. */
function placeWithout(place: number | undefined, index: number): number | undefined {
  if (place === undefined || place === index) return undefined;
  return place > index ? place - 1 : place;
}

/** Takes all IDs back that were left out. The button of this goes, so the focus goes to the view. */
export function takeBack(change: Change): void {
  document.getElementById("content")?.focus({ preventScroll: true });
  change((state) => ({ ...state, parse: { ...state.parse, excluded: [], before: undefined } }));
  beginReading(change);
}
