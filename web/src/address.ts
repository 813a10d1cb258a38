import { layouts } from "../../src/snowflake/presets.ts";
import { findsLeft } from "./lab/excluded.ts";
import { isGuessed } from "./lab/reading-options.ts";
import { idsOfText } from "./lab/text-ids.ts";
import { chosenLayout } from "./layout-field.ts";
import { fragmentMax, readRoute, writeGenerateLink, writeLearnLink, writeLink } from "./route.ts";
import type { State } from "./state.ts";

/** Browsers refuse an address that is written more often than some 100 times in 30 seconds. */
const restMs = 300;

let timer: ReturnType<typeof setTimeout> | undefined;
let written: string | undefined;

/** Whether the address is the one that {@link keepAddress} wrote for Parse, which then shows already what it says. */
export function isOwnAddress(fragment: string): boolean {
  return fragment === written;
}

/**
 * Writes what Parse, Generate and Learn show into the address, once nothing has changed for a moment, so that a reload
 * and a bookmark show it again. Of a text that was pasted only the IDs that were found are written, never the text
 * (docs/adr/0211).
 */
export function keepAddress(state: State): void {
  clearTimeout(timer);
  // An address that could not be read stays, as long as the page says so.
  if (state.link === "broken") return;
  const shown = location.hash;
  timer = setTimeout(() => {
    // A reader who went on already is at an address that the page has not followed yet.
    if (location.hash !== shown) return;
    const fragment = fragmentOf(state);
    if (fragment === undefined || fragment === location.hash) return;
    if (state.view === "parse") written = fragment;
    history.replaceState(history.state, "", fragment);
  }, restMs);
}

/** The fragment of a state; undefined for a view that writes its own, or none. */
function fragmentOf(state: State): string | undefined {
  const { view, generate, parse } = state;
  const { layout: chosen, problems } = chosenLayout(state);
  // The layout that is read by meanwhile is not the one that the reader is typing.
  if (problems.length > 0) return undefined;
  const layout = isGuessed(state) ? undefined : chosen;
  if (view === "learn") return writeLearnLink(layout);
  if (view === "parse") return parse.found === undefined ? undefined : parseFragment(state);
  if (view !== "generate") return undefined;
  const fragment = writeGenerateLink(generate, generate.source === "hand" ? layout : undefined);
  return fragment.length <= fragmentMax ? fragment : "#/generate";
}

/**
 * The fragment of Parse: the IDs that were found, or the one that is shown alone where they are too many for an
 * address. A number that the search took for none is left out, because it may be a card's or a telephone's. A text that
 * the address has already stays in it as it is.
 */
function parseFragment(state: State): string {
  const finds = findsLeft(state.parse);
  const ids = finds.flatMap(({ strict }) => (strict === undefined ? [] : [strict]));
  const { find } = idsOfText(state)[state.parse.at] ?? {};
  const [maker, ...others] = new Set(finds.map((each) => each.maker));
  const named = maker === undefined || others.length > 0 ? undefined : layouts[maker];
  const layout = isGuessed(state) ? named : chosenLayout(state).layout;
  const { text, at: shown, excluded } = state.parse;
  if (excluded.length === 0 && readRoute(location.hash).text === text) return writeLink(text, layout, shown);
  // More are not even encoded.
  const isShort = ids.length * 10 < fragmentMax;
  const at = find === undefined ? 0 : finds.filter(({ strict }) => strict !== undefined).indexOf(find);
  const fragment = isShort ? writeLink(ids.join("\n"), layout, Math.max(at, 0)) : undefined;
  return fragment !== undefined && fragment.length <= fragmentMax ? fragment : writeLink(find?.strict ?? "", layout);
}
