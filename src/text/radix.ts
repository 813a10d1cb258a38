import { IdWords } from "../snowflake/id-words.ts";
import { malformedText } from "./malformed-text.ts";
import { checkId, idMax, type TextForm } from "./text-form.ts";

/** IDs as digits of a fixed width, written in halves of plain numbers: BigInt division costs ten times as much. */
export interface Radix {
  /** @throws IdError MALFORMED_ID. */
  readonly write: (id: bigint) => string;
  /**
   * Reads the `width` digits at the beginning of a text; what follows them, and whether the number is an ID, is the
   * caller's concern.
   *
   * @throws IdError MALFORMED_TEXT: character, too_short.
   */
  readonly read: (text: string) => bigint;
  /**
   * Reads a text that is one ID from `start` on, and ends with it.
   *
   * @param start - Characters before the digits. Default: 0.
   * @throws IdError MALFORMED_TEXT: character, too_short, too_long, out_of_range.
   */
  readonly readId: (text: string, start?: number) => bigint;
}

/** Digits in the lower half; the upper half, up to 2^43 for base 32, stays exact in a plain number. */
const lowDigitCount = 4;
const words = new IdWords();

/**
 * Makes a fixed-width number writing.
 *
 * @param alphabet - Its digits from 0 up, 32 to 62 ASCII characters in ascending order, so that texts sort as the IDs
 * do.
 * @param width - Digits of a text: as many as 2^63 - 1 needs, an odd number.
 * @param aliases - Characters that are read as digits but never written, with the digit that each stands for.
 */
export function createRadix(
  form: TextForm,
  alphabet: string,
  width: number,
  aliases: Readonly<Record<string, string>> = {},
): Radix {
  const base = alphabet.length;
  const lowRange = base ** lowDigitCount;
  const lowRangeBig = BigInt(lowRange);
  const highDigitCount = width - lowDigitCount;
  const pairRange = base * base;
  // Made at the first write: a server that writes no texts starts without them.
  let pairs: readonly string[] = [];
  const digitOf = new Int8Array(128).fill(-1);
  for (let digit = 0; digit < base; digit++) digitOf[alphabet.charCodeAt(digit)] = digit;
  for (const [alias, digit] of Object.entries(aliases)) digitOf[alias.charCodeAt(0)] = alphabet.indexOf(digit);

  const write = (id: bigint): string => {
    checkId(id);
    if (pairs.length === 0) pairs = pairsOf(alphabet);
    words.id = id;
    const { high: top, low: bottom } = words;
    // Long division by lowRange in limbs of 31, 16 and 16 bits; no step exceeds 2^53, so each floor is exact.
    const quotient1 = Math.floor(top / lowRange);
    const rest1 = (top - quotient1 * lowRange) * 65_536 + (bottom >>> 16);
    const quotient2 = Math.floor(rest1 / lowRange);
    const rest2 = (rest1 - quotient2 * lowRange) * 65_536 + (bottom & 65_535);
    const quotient3 = Math.floor(rest2 / lowRange);
    let high = (quotient1 * 65_536 + quotient2) * 65_536 + quotient3;
    const low = rest2 - quotient3 * lowRange;
    const lowPair = Math.floor(low / pairRange);
    let text = pairs[lowPair]! + pairs[low - lowPair * pairRange]!;
    for (let digits = highDigitCount; digits > 1; digits -= 2) {
      const next = Math.floor(high / pairRange);
      text = pairs[high - next * pairRange]! + text;
      high = next;
    }
    return alphabet[high]! + text;
  };

  const readDigits = (text: string, start: number): bigint => {
    let high = 0;
    let low = 0;
    for (let i = 0; i < width; i++) {
      const at = start + i;
      if (at >= text.length) throw malformedText(form, "too_short", at);
      const code = text.charCodeAt(at);
      const digit = code < 128 ? digitOf[code]! : -1;
      if (digit < 0) throw malformedText(form, "character", at);
      if (i < highDigitCount) high = high * base + digit;
      else low = low * base + digit;
    }
    return BigInt(high) * lowRangeBig + BigInt(low);
  };

  const readId = (text: string, start = 0): bigint => {
    const id = readDigits(text, start);
    if (text.length > start + width) throw malformedText(form, "too_long", start + width);
    if (id > idMax) throw malformedText(form, "out_of_range", start);
    return id;
  };

  return { write, read: (text) => readDigits(text, 0), readId };
}

/** Every two digits, in the order of their values. */
function pairsOf(alphabet: string): readonly string[] {
  const digits = alphabet.split("");
  return digits.flatMap((high) => digits.map((low) => high + low));
}
