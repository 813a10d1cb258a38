import { malformedText } from "./malformed-text.ts";
import { checkId, idMax } from "./text-form.ts";

const prefix = "0x";
const hexLength = prefix.length + 16;

/**
 * Writes an ID in hexadecimal: `0x` and 16 digits in lower case. Sorts as the IDs do.
 *
 * @throws IdError MALFORMED_ID.
 */
export function writeHex(id: bigint): string {
  checkId(id);
  return prefix + id.toString(16).padStart(16, "0");
}

/**
 * Reads what {@link writeHex} writes, and nothing else: no capitals, no fewer digits.
 *
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long, out_of_range.
 */
export function readHex(text: string): bigint {
  for (let i = 0; i < hexLength; i++) {
    if (i >= text.length) throw malformedText("hex", "too_short", i);
    const code = text.charCodeAt(i);
    const isDigit = (code >= 48 && code <= 57) || (code >= 97 && code <= 102);
    const fits = i < prefix.length ? code === prefix.charCodeAt(i) : isDigit;
    if (!fits) throw malformedText("hex", "character", i);
  }
  if (text.length > hexLength) throw malformedText("hex", "too_long", hexLength);
  const id = BigInt(text);
  if (id > idMax) throw malformedText("hex", "out_of_range", prefix.length);
  return id;
}
