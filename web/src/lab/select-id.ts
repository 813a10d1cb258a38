import type { Change } from "../state.ts";

/** Shows one of the IDs of the text; the one that was shown before stays known, to be compared with. */
export function choose(change: Change, at: number): void {
  change((state) => {
    const { parse } = state;
    if (parse.at === at) return state;
    return { ...state, parse: { ...parse, at, before: parse.at, field: undefined } };
  });
}
