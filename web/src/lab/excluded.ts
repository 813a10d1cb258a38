import type { Find } from "../../../src/text/find/find.ts";
import type { ParseState, TextRange } from "../state.ts";

/** Whether a place of the text is one that the reader left out, or within one. */
export function isExcluded(excluded: readonly TextRange[], { start, end }: TextRange): boolean {
  return excluded.some((range) => range.start <= start && end <= range.end);
}

/** The finds of the text without those that the reader left out. */
export function findsLeft({ found, excluded }: ParseState): readonly Find[] {
  const finds = found?.finds ?? [];
  return excluded.length === 0 ? finds : finds.filter((find) => !isExcluded(excluded, find));
}
