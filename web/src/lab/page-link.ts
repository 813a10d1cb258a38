import { chosenLayout } from "../layout-field.ts";
import { fragmentMax, writeLink } from "../route.ts";
import type { State } from "../state.ts";
import { readShown } from "./read-shown.ts";
import { isGuessed } from "./reading-options.ts";
import { idsOfText } from "./text-ids.ts";

/**
 * The fragment of the link that the reader copies: it has the text as it was pasted, and the layout by which its one ID
 * is read. Undefined where it would be longer than an address should be.
 */
export function linkOf(state: State): string | undefined {
  const ids = idsOfText(state);
  // What the reader left out stays out of the link, too.
  const text = state.parse.excluded.length === 0 ? state.parse.text.trim() : ids.map((id) => id.text).join("\n");
  if (text.length > fragmentMax) return undefined;
  const isOne = ids.length === 1;
  const shown = isOne && isGuessed(state) ? readShown(state, ids[0]!) : undefined;
  const guessed = shown?.kind === "read" ? shown.source.parsed?.layout : undefined;
  const layout = isGuessed(state) && !isOne ? undefined : (guessed ?? chosenLayout(state).layout);
  const link = writeLink(text, layout, state.parse.at);
  return link.length > fragmentMax ? undefined : link;
}
