import { type LayoutGuess, guessLayouts } from "../../../src/snowflake/layout-guess.ts";
import type { ParsedSource } from "../../../src/text/parse-source.ts";
import { chosenLayout } from "../layout-field.ts";
import { type Reading, readLine } from "../read-line.ts";
import type { State } from "../state.ts";
import { bestLayoutOf, type BestLayout, presetOf } from "./best-layout.ts";
import { layoutChooser } from "./reading-options.ts";
import type { TextId } from "./text-ids.ts";

let last:
  | { readonly found: unknown; readonly ofServer: unknown; readonly bestOf: ReturnType<typeof bestLayoutOf> }
  | undefined;

/** Gives the likeliest layout of an ID of the text. */
export function bestLayout({ parse, server, nowMs }: State, id: bigint, { find }: Pick<TextId, "find">): BestLayout {
  const { found } = parse;
  const ofServer = server.info?.layout;
  if (last === undefined || last.found !== found || last.ofServer !== ofServer)
    last = { found, ofServer, bestOf: bestLayoutOf(found?.finds ?? [], { ofServer, nowMs }) };
  return last.bestOf(id, find?.maker);
}

/** The layouts that an ID of the text could be of, the likeliest by itself first. */
export function layoutGuesses(
  { server, nowMs }: State,
  id: bigint,
  { find }: Pick<TextId, "find">,
): readonly LayoutGuess[] {
  return guessLayouts([id], { nowMs, maker: find?.maker, own: presetOf(server.info?.layout) });
}

/** Reads the ID that is shown, with its other forms and the layouts that it could be of. */
export function readShown(state: State, shown: TextId): Reading<ParsedSource> {
  const choose = layoutChooser(state, (id) => bestLayout(state, id, shown));
  const { layout } = chosenLayout(state);
  return readLine(shown.text, { layout, form: state.parse.form, nowMs: state.nowMs, layoutOf: (id) => choose(id) });
}
