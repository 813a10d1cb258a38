import { type FoundIds, findIdsInSlices } from "../../src/text/find/find-ids.ts";
import type { TextCodec } from "../../src/text/text-codec.ts";

/**
 * Finds the IDs and the times in what was pasted, slice by slice: it yields after each. Loaded once the first view is
 * there.
 */
export function searchText(text: string, codec: TextCodec, nowMs: number): Generator<number, FoundIds> {
  return findIdsInSlices(text, { nowMs, codec });
}
