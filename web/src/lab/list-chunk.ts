import { loadChunk } from "../chunk.ts";
import type { Change } from "../state.ts";
import type * as ListChunk from "./list.ts";

let chunk: typeof ListChunk | undefined;
let loading: Promise<void> | undefined;

/**
 * The list of many IDs, and the cards of one that its reader needs last: a part of the page that is loaded with the
 * first ID. The page is drawn again once it is there; undefined until then.
 */
export function listChunk(change: Change): typeof ListChunk | undefined {
  if (chunk === undefined) loading ??= load(change);
  return chunk;
}

async function load(change: Change): Promise<void> {
  chunk = await loadChunk(change, () => import("./list.ts"));
  change((state) => ({ ...state }));
}
