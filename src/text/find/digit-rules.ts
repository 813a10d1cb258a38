import type { Find, FindNote } from "./find.ts";
import { literalSuffix } from "./literal-suffix.ts";
import { beginsWithDate, isDotnetTicks, isIdentityNumber, isKnownNumber, isOtherTimeNow } from "./known-numbers.ts";
import type { TokenContext } from "./token-context.ts";

/** Whether digits are an ID, and if not, whether they may still be one of many. */
export type DigitVerdict =
  | { readonly kind: "find"; readonly find: Find }
  /** Not an ID. `mayBeOneOfMany`: it counts if others of its length and first digits are found (N12). */
  | { readonly kind: "refused"; readonly mayBeOneOfMany: boolean };

/** A run of digits and what is known of it. */
export interface DigitToken {
  readonly start: number;
  readonly end: number;
  readonly digits: string;
  readonly context: TokenContext;
  /** The two characters before it. */
  readonly head: string;
  /** The characters behind it, 40 at most. */
  readonly tail: string;
  /** Whether a `-` is before it that follows no word and no closing bracket. */
  readonly isNegative: boolean;
}

/** The facts that the rules compare a token with. */
export interface DigitOptions {
  /** Tells whether a number is an ID of the chosen layout with a likely time. */
  readonly isPlausible: (id: bigint) => boolean;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Digits of an ID that the chosen layout makes today. */
  readonly ownLength: number | undefined;
  /** How many lines of the text hold a negative number alone. */
  readonly negativeLineCount: number;
}

/** N3: a unit behind a number. */
export const unitBehind = new RegExp(
  "^\\s?(?:wei|gwei|sat|satoshi|ns|ms|us|µs|ps|fs|s|sec|seconds|[a-z]{3,5}seconds|bytes|octets|B|[kKMGTP]i?B|bits|%|" +
    "USD|EUR|GBP|JPY|CNY|INR|dollars|euros|tokens|Hz|iterations|ops|operations|rows|times|cycles|ticks|instructions|" +
    "packets|байт|наносекунд|字节|纳秒|バイト|ナノ秒|바이트|grains|atoms|stars|molecules|combinations|permutations|possibilities|states|flops|joules|light-?years|" +
    "meters|metres|km|kg)(?![A-Za-z0-9])|^\\s[*×]\\s",
);
const otherNouns =
  "(?:prime|mask|checksum|hash|constant|seed|magic|factorial|nonce|limit|maximum|minimum|product|sum|size|address|" +
  "pointer|balance|timestamp)";
/** The words after a number that the text itself calls something else: "… is a prime", "… (the seed)". */
export const calledOther = new RegExp(
  `^["'\`]? (?:(?:is|was) (?:an? |the |our |its )?(?:\\w+ )?${otherNouns}\\b|\\((?:an? |the )?${otherNouns}\\))`,
  "i",
);
const lengthMin = 14;
const lengthMax = 20;
const longMin = 17;
const uintEnd = 2n ** 64n;
const intEnd = 2n ** 63n;
/** More lines of negative numbers than this are hashes, not one ID that was read as signed. */
const negativeLinesMax = 3;

const refused: DigitVerdict = { kind: "refused", mayBeOneOfMany: false };
const maybe: DigitVerdict = { kind: "refused", mayBeOneOfMany: true };

/** Rules N1 and N3 to N11 for digits that are not a time; the first rule that says "no" decides. */
export function judgeDigits(token: DigitToken, options: DigitOptions): DigitVerdict {
  const { start, digits: written, context, tail } = token;
  if (isPartOfANumber(token)) return refused;
  if (context.isOther && !context.isId) return refused;
  if (unitBehind.test(tail) && !literalSuffix.test(tail)) return refused;
  if (context.isComputed || calledOther.test(tail)) return refused;
  const digits = written.replace(/^0+(?=\d)/, "");
  const isPadded = digits.length < written.length;
  if (isPadded && (digits.length < longMin || written.length > 40)) return refused;
  if (digits.length < lengthMin || digits.length > lengthMax) return refused;
  const value = BigInt(digits);
  if (value >= uintEnd) return refused;
  const isPlausible = options.isPlausible(value);
  const no = isPlausible && digits.length >= longMin && !token.isNegative ? maybe : refused;
  if (isKnownNumber(digits, value) || isOfAnotherKind(digits, value, context)) return no;
  if (!context.isId && isOtherTimeNow(digits, value, options.nowMs)) return no;
  if (token.isNegative || value >= intEnd) return judgeUnsigned(token, options, value);
  if (context.isAlone && options.negativeLineCount > negativeLinesMax) return refused;
  if (digits.length < longMin && !isShortId(digits, context, options)) return refused;
  if (!isPlausible) return refused;
  const float = /^\.0+(?![0-9])/.exec(tail)?.[0] ?? "";
  const notes: FindNote[] = [];
  if (isPadded) notes.push("padded");
  if (float !== "" || looksRounded(digits)) notes.push("rounded");
  const kind = float === "" ? "decimal" : "float";
  const find: Find = { start, end: token.end + float.length, kind, strict: digits, notes };
  return { kind: "find", find };
}

/**
 * Whether digits look as a program prints a number that it has rounded: 17 significant digits or fewer, whose double is
 * another number. Of true IDs with 19 digits, four in a thousand look like that.
 */
function looksRounded(digits: string): boolean {
  if (digits.length < longMin || !digits.endsWith("00")) return false;
  const double = Number(digits);
  return String(double) === digits && BigInt(double) !== BigInt(digits);
}

/** N1: a fraction, a version, or a part of a longer number, such as of GS1, where `(00)` says what follows. */
function isPartOfANumber({ head, tail }: DigitToken): boolean {
  return /\+$|\d\.$|\d\)$/.test(head) || (/^\.\d/.test(tail) && !/^\.0+(?![0-9.])/.test(tail));
}

/** N7 and N8, and counts of ticks. */
function isOfAnotherKind(digits: string, value: bigint, { isId }: TokenContext): boolean {
  if (digits.length !== 19 && beginsWithDate(digits) && !isId) return true;
  if (digits.length === 18 && isIdentityNumber(digits, !isId)) return true;
  return isDotnetTicks(digits, value) && !isId;
}

/** N9: numbers with bit 63 set. */
function judgeUnsigned(
  { start, end, context, isNegative, digits }: DigitToken,
  { negativeLineCount }: DigitOptions,
  value: bigint,
): DigitVerdict {
  const isSingle = context.isAlone && negativeLineCount <= negativeLinesMax;
  if (!(isSingle || context.isId) || digits.length < longMin || value > intEnd * (isNegative ? 1n : 2n)) return refused;
  const notes: readonly FindNote[] = [isNegative ? "negative" : "above-63-bits"];
  return { kind: "find", find: { start: isNegative ? start - 1 : start, end, kind: "unsigned", notes } };
}

/** N10: 14 to 16 digits are an ID only alone, by their key, or where the chosen layout makes such. */
function isShortId(digits: string, { isAlone, isId }: TokenContext, { ownLength }: DigitOptions): boolean {
  return isId || (isAlone && digits.length <= 15) || digits.length === ownLength;
}
