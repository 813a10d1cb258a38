import { base32Length } from "./base32.ts";
import { base58Length } from "./base58.ts";
import { malformedText } from "./malformed-text.ts";
import type { TextForm } from "./text-form.ts";
import { typeSeparator } from "./typed.ts";

/** Above the longest text of any form: a serial number of 56 characters. */
const lengthMax = 64;

/**
 * Names the forms that a text can be in, judged by its shape alone. Looks at no more than 65 characters.
 *
 * @param serialDigitCount - Digits of a serial number of the layout.
 * @returns One form, or base 58 and base 62, whose alphabets differ by 0, O, I and l alone.
 * @throws IdError MALFORMED_TEXT: too_short (nothing there), too_long, character (no visible ASCII), no_form.
 */
export function detectForms(text: string, serialDigitCount: number): readonly TextForm[] {
  for (let i = 0; i < text.length; i++) {
    if (i === lengthMax) throw malformedText(undefined, "too_long", i);
    const code = text.charCodeAt(i);
    if (code <= 32 || code >= 127) throw malformedText(undefined, "character", i);
  }
  if (text === "") throw malformedText(undefined, "too_short", 0);
  if (text.startsWith("0x")) return ["hex"];
  if (text.includes(typeSeparator)) return ["typed"];
  if (text.includes("-")) return ["uuid"];
  if (text.length >= serialDigitCount && /^[0-9]+$/.test(text.slice(-serialDigitCount))) return ["serial"];
  // Before the widths: 11 or 13 digits are far more often a number than one of the other forms without a single letter.
  if (/^(0|[1-9][0-9]*)$/.test(text)) return ["decimal"];
  if (text.length === base32Length || text.length === base32Length + 1) return ["base32"];
  if (text.length === base58Length) return /[0OIl]/.test(text) ? ["base62"] : ["base58", "base62"];
  throw malformedText(undefined, "no_form", 0);
}
