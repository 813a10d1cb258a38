import { loadChunk } from "./chunk.ts";
import type { Change } from "./state.ts";

/** Gives a part of the page that is loaded once it is first drawn; undefined until it is there. */
export function lazyPart<Part>(load: () => Promise<Part>): (change: Change) => Part | undefined {
  let part: Part | undefined;
  let isWanted = false;
  return (change) => {
    if (!isWanted) {
      isWanted = true;
      void loadChunk(change, load).then((loaded) => {
        part = loaded;
        // Draws what is there now.
        if (loaded !== undefined) change((state) => ({ ...state }));
      });
    }
    return part;
  };
}
