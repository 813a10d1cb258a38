import { layouts } from "../../src/snowflake/presets.ts";
import { isGuessed } from "./lab/reading-options.ts";
import { idsOfText } from "./lab/text-ids.ts";
import { chosenLayout } from "./layout-field.ts";
import { fragmentMax, writeLink } from "./route.ts";
import type { State } from "./state.ts";

/** Browsers refuse an address that is written more often than some 100 times in 30 seconds. */
const restMs = 300;

let timer: ReturnType<typeof setTimeout> | undefined;
let written: string | undefined;

/** Whether the address is the one that {@link keepAddress} wrote: the page then shows already what it says. */
export function isOwnAddress(fragment: string): boolean {
  return fragment === written;
}

/**
 * Writes what the page shows into the address, once nothing has changed for a moment, so that a reload and a bookmark
 * show it again. Of a text that was pasted only the IDs that were found are written, never the text (docs/adr/0211).
 */
export function keepAddress(state: State): void {
  clearTimeout(timer);
  // An address that could not be read stays, as long as the page says so.
  if (state.view !== "parse" || state.link === "broken" || state.parse.found === undefined) return;
  timer = setTimeout(() => {
    const fragment = fragmentOf(state);
    if (fragment === location.hash) return;
    written = fragment;
    history.replaceState(history.state, "", fragment);
  }, restMs);
}

/**
 * The fragment of a state: the IDs that were found, or the one that is shown alone where they are too many for an
 * address. A number that the search took for none is left out, because it may be a card's or a telephone's.
 */
function fragmentOf(state: State): string {
  const finds = state.parse.found?.finds ?? [];
  const ids = finds.flatMap(({ strict }) => (strict === undefined ? [] : [strict]));
  const { find } = idsOfText(state)[state.parse.at] ?? {};
  const [maker, ...others] = new Set(finds.map((each) => each.maker));
  const named = maker === undefined || others.length > 0 ? undefined : layouts[maker];
  const layout = isGuessed(state) ? named : chosenLayout(state).layout;
  // More are not even encoded.
  const isShort = ids.length * 10 < fragmentMax;
  const at = find === undefined ? 0 : finds.filter(({ strict }) => strict !== undefined).indexOf(find);
  const fragment = isShort ? writeLink(ids.join("\n"), layout, Math.max(at, 0)) : undefined;
  return fragment !== undefined && fragment.length <= fragmentMax ? fragment : writeLink(find?.strict ?? "", layout);
}
