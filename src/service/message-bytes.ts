/** Limits for messages whose size depends on what a caller asks for: at most 1 MiB each. */
import type { SequenceState } from "../sequence/sequence-state.ts";
import { textBytesMax } from "../sequence/value-template.ts";
import { chunkSizeMax } from "./hot/issue-ids.ts";

/** Clients accept messages of 4 MiB by default, and proxies between may accept less. */
const messageBytesMax = 2 ** 20;
/** The bytes of a sequence without its texts: 21 fields, the longest of which are times of 20 bytes. */
const fixedBytesMax = 256;
/** The bytes of a value, and of the framing of its text. */
const numberBytesMax = 12;
/** The bytes of an ID, of the framing of its text, and of the longest text that any form writes. */
const idBytes = 8;
const frameBytes = 2;
export const idTextBytesMax = 64;

/** The most IDs of one message: with a text each they take at most 1 MiB. */
export function idsOfMessage(content: "ids" | "ids and texts"): number {
  if (content === "ids") return chunkSizeMax;
  return Math.floor(messageBytesMax / (idBytes + frameBytes + idTextBytesMax));
}

/** The most values of one message: with their texts they take at most 1 MiB. */
export function valuesOfMessage(textTemplate: string): number {
  return Math.floor(messageBytesMax / (numberBytesMax + textBytesMax(textTemplate)));
}

/** How many of some sequences, at least one, fit into a message of 1 MiB. */
export function sequencesOfMessage(states: readonly Pick<SequenceState, "stored">[]): number {
  let bytes = 0;
  const end = states.findIndex(({ stored: { definition } }) => {
    const { name, description, textTemplate, timeZone } = definition;
    bytes += fixedBytesMax + Buffer.byteLength(name + description + textTemplate + timeZone);
    return bytes > messageBytesMax;
  });
  return end < 0 ? states.length : Math.max(1, end);
}
