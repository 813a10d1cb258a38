import { malformedText } from "./malformed-text.ts";
import { checkId, idMax } from "./text-form.ts";

/** Digits of 2^63 - 1. */
const decimalLengthMax = 19;

/**
 * Writes an ID in decimal: 1 to 19 digits without leading zeros. Sorts as the IDs do only among texts of one length.
 *
 * @throws IdError MALFORMED_ID.
 */
export function writeDecimal(id: bigint): string {
  checkId(id);
  return id.toString();
}

/**
 * Reads what {@link writeDecimal} writes, and nothing else.
 *
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long, leading_zero, out_of_range.
 */
export function readDecimal(text: string): bigint {
  for (let i = 0; i < text.length; i++) {
    if (i === decimalLengthMax) throw malformedText("decimal", "too_long", i);
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) throw malformedText("decimal", "character", i);
  }
  if (text === "") throw malformedText("decimal", "too_short", 0);
  if (text.length > 1 && text.startsWith("0")) throw malformedText("decimal", "leading_zero", 0);
  const id = BigInt(text);
  if (id > idMax) throw malformedText("decimal", "out_of_range", 0);
  return id;
}
