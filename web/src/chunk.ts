import type { Change } from "./state.ts";

/**
 * Loads a part of the page. Where that fails, its reader is told to load the page again: the server was updated, or was
 * away at that moment, and a browser does not ask again for a part that it once failed to load.
 *
 * @returns undefined if it cannot be loaded.
 */
export async function loadChunk<Part>(change: Change, load: () => Promise<Part>): Promise<Part | undefined> {
  try {
    return await load();
  } catch {
    change((state) => (state.parts === "missing" ? state : { ...state, parts: "missing" }));
    return undefined;
  }
}
