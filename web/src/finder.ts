import { findIds } from "../../src/text/find/find-ids.ts";
import type { TextCodec } from "../../src/text/text-codec.ts";

/**
 * The IDs in a line that is in no form itself, each as strict reading takes it: for what people paste. Loaded when a
 * line needs it.
 */
export function foundTexts(line: string, codec: TextCodec, nowMs: number): readonly string[] {
  return findIds(line, { nowMs, codec }).finds.flatMap(({ strict }) => (strict === undefined ? [] : [strict]));
}
