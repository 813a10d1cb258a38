import { IdError } from "../errors.ts";

/**
 * The ways to write an ID as text, ordered as the numbers of `TextForm` in proto/snowlane/v1/id_service.proto, from 1.
 * docs/adr/0030 says why each form has one text for an ID.
 */
export const textForms = ["decimal", "hex", "base32", "base58", "base62", "serial", "uuid", "typed"] as const;

/** One of {@link textForms}. */
export type TextForm = (typeof textForms)[number];

/**
 * The options of a form. Options that a form does not have are ignored here; {@link checkTextFormat} refuses them.
 */
export interface TextOptions {
  /** Serial numbers: the characters before the digits, 0 to 16 of A-Z and 0-9. Default: none. */
  readonly serialPrefix?: string | undefined;
  /** Serial numbers: minutes east of UTC of the time in the text, whole, -1,080 to 1,080. Default: 0. */
  readonly utcOffsetMinutes?: number | undefined;
  /** Base 32: whether a check symbol follows. Default: it does not. */
  readonly checkSymbol?: boolean | undefined;
  /** Typed IDs, which must have one: the text before the underscore, as {@link checkTypePrefix} demands it. */
  readonly typePrefix?: string | undefined;
}

/** How an ID is to be written. */
export interface TextFormat extends TextOptions {
  readonly form: TextForm;
}

/** The highest ID: 2^63 - 1. */
export const idMax = 2n ** 63n - 1n;

/** Longest prefix of a serial number, in characters. */
export const serialPrefixLengthMax = 16;

/** Longest prefix of a typed ID, in characters. */
export const typePrefixLengthMax = 16;

/** A lower-case letter, then 0 to 15 lower-case letters and digits. */
export const typePrefixPattern = new RegExp(`^[a-z][a-z0-9]{0,${typePrefixLengthMax - 1}}$`);

/** Furthest offset from UTC, 18 hours either way: what java.time.ZoneOffset allows. */
const utcOffsetMinutesMax = 1_080;

/** Reads an offset from UTC in minutes, such as `+08:00` or `-03:30`; undefined where the text is not one. */
export function readUtcOffset(text: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):([0-5]\d)$/.exec(text) ?? [];
  const size = Number(hours) * 60 + Number(minutes);
  if (sign === undefined || size > utcOffsetMinutesMax) return undefined;
  return sign === "-" ? 0 - size : size;
}

/** The prefix of a serial number or a typed ID; empty in every other form. */
export function prefixOf({ serialPrefix, typePrefix }: TextFormat): string {
  return serialPrefix ?? typePrefix ?? "";
}

/**
 * Checks that an ID is in the range that every form can write, 0 to 2^63 - 1.
 *
 * @throws IdError MALFORMED_ID.
 */
export function checkId(id: bigint): void {
  if (id >= 0n && id <= idMax) return;
  throw new IdError("MALFORMED_ID", "The ID is not from 0 to 2^63 - 1.", { metadata: { id } });
}

/**
 * Checks that an offset from UTC is in its range.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkUtcOffset(utcOffsetMinutes: number): void {
  if (Number.isInteger(utcOffsetMinutes) && Math.abs(utcOffsetMinutes) <= utcOffsetMinutesMax) return;
  const message = `The offset ${utcOffsetMinutes} is not whole minutes from -1080 to 1080.`;
  throw invalidTextFormat(message, { utc_offset_minutes: utcOffsetMinutes });
}

/**
 * Checks that a name is that of a text form.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkTextForm(form: string): asserts form is TextForm {
  if (!(textForms as readonly string[]).includes(form))
    throw invalidTextFormat(`There is no text form ${form}.`, { form });
}

/**
 * Checks that a format is one that its form can write: each option in its range, and no option that the form does not
 * have.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
export function checkTextFormat(format: TextFormat): void {
  const { form, serialPrefix = "", utcOffsetMinutes = 0, checkSymbol = false, typePrefix = "" } = format;
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
  if (form === "typed") checkTypePrefix(typePrefix);
  else if (typePrefix !== "") throw invalidTextFormat("Only typed IDs have a type prefix.", { form });
}

/**
 * Checks the shape of the prefix of typed IDs: a lower-case letter, then 0 to 15 lower-case letters and digits.
 *
 * @throws IdError INVALID_TEXT_FORMAT.
 */
function checkTypePrefix(typePrefix: string): void {
  if (typePrefixPattern.test(typePrefix)) return;
  const message = "The prefix of a typed ID is not a letter of a-z and 0 to 15 characters of a-z and 0-9.";
  throw invalidTextFormat(message, { form: "typed" });
}

/** Makes an INVALID_TEXT_FORMAT error. */
export function invalidTextFormat(message: string, metadata: Readonly<Record<string, string | number>>): IdError {
  return new IdError("INVALID_TEXT_FORMAT", message, { metadata });
}
