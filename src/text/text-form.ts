import { IdError } from "../errors.ts";

/**
 * The ways to write an ID as text, ordered as the numbers of `TextForm` in proto/snowlane/v1/id_service.proto, from 1.
 */
export const textForms = ["decimal", "hex", "base32", "base58", "base62", "serial", "uuid"] as const;

/** One of {@link textForms}. */
export type TextForm = (typeof textForms)[number];

/**
 * What a form can be told beside the ID. What a form has no use for is ignored here; {@link checkTextFormat} refuses
 * it.
 */
export interface TextOptions {
  /** Serial numbers: what stands before the digits, 0 to 16 characters of A-Z and 0-9. Default: nothing. */
  readonly serialPrefix?: string | undefined;
  /** Serial numbers: minutes east of UTC of the time in the text, whole, -1,080 to 1,080. Default: 0. */
  readonly utcOffsetMinutes?: number | undefined;
  /** Base 32: whether a check symbol follows. Default: it does not. */
  readonly checkSymbol?: boolean | undefined;
}

/** How an ID is to be written. */
export interface TextFormat extends TextOptions {
  readonly form: TextForm;
}

/** The highest ID: 2^63 - 1. */
export const idMax = 2n ** 63n - 1n;

/** Longest prefix of a serial number, in characters. */
export const serialPrefixLengthMax = 16;

/** Furthest offset from UTC, 18 hours either way: what java.time.ZoneOffset allows. */
export const utcOffsetMinutesMax = 1_080;

/**
 * Holds an ID to the range that every form can write, 0 to 2^63 - 1.
 *
 * @throws IdError MALFORMED_ID.
 */
export function checkId(id: bigint): void {
  if (id >= 0n && id <= idMax) return;
  throw new IdError("MALFORMED_ID", "The ID is not from 0 to 2^63 - 1.", { metadata: { id } });
}

/**
 * Holds an offset from UTC to its range.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkUtcOffset(utcOffsetMinutes: number): void {
  if (Number.isInteger(utcOffsetMinutes) && Math.abs(utcOffsetMinutes) <= utcOffsetMinutesMax) return;
  const message = `The offset ${utcOffsetMinutes} is not whole minutes from -1080 to 1080.`;
  throw invalidTextFormat(message, { utc_offset_minutes: utcOffsetMinutes });
}

/**
 * Holds a name to the text forms that there are.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkTextForm(form: string): asserts form is TextForm {
  if (!(textForms as readonly string[]).includes(form))
    throw invalidTextFormat(`There is no text form ${form}.`, { form });
}

/**
 * Holds a format to what its form can do: each option in its range, and none that the form has no use for.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkTextFormat(format: TextFormat): void {
  const { form, serialPrefix = "", utcOffsetMinutes = 0, checkSymbol = false } = format;
  checkTextForm(form);
  if (form !== "serial" && serialPrefix !== "") throw invalidTextFormat("Only serial numbers have a prefix.", { form });
  if (form !== "serial" && utcOffsetMinutes !== 0)
    throw invalidTextFormat("Only serial numbers have an offset from UTC.", { form });
  if (form !== "base32" && checkSymbol) throw invalidTextFormat("Only base 32 has a check symbol.", { form });
  if (serialPrefix.length > serialPrefixLengthMax || !/^[A-Z0-9]*$/.test(serialPrefix)) {
    const message = "The prefix of a serial number is not 0 to 16 characters of A-Z and 0-9.";
    throw invalidTextFormat(message, { form });
  }
  checkUtcOffset(utcOffsetMinutes);
}

/** Makes an INVALID_TEXT_FORMAT error. */
export function invalidTextFormat(message: string, metadata: Readonly<Record<string, string | number>>): IdError {
  return new IdError("INVALID_TEXT_FORMAT", message, { metadata });
}
