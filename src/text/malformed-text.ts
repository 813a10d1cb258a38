import { IdError } from "../errors.ts";
import type { TextForm } from "./text-form.ts";

/** The faults that a text can have, each with its clause for the message. The names are the metadata's `reason`. */
const faults = {
  /** A character that is not allowed here. */
  character: "an unexpected character",
  /** The text ends where a character is missing. */
  too_short: "the text ends too early",
  /** The text goes on where it should end. */
  too_long: "the text should end here",
  /** A decimal number begins with a superfluous zero. */
  leading_zero: "a leading zero",
  /** A number above what an ID, or one field of its layout, can hold. */
  out_of_range: "a number that is too large",
  /** The check symbol is not that of the symbols before it. */
  check_symbol: "a check symbol that does not match the symbols before it",
  /** Not a time of the calendar. */
  date: "not a valid date and time",
  /** A time at which no tick of the layout begins. */
  tick: "a time at which no tick of the layout begins",
  /** Typed IDs: a character that the prefix may not have, a prefix that is too long, or another than was expected. */
  prefix: "a type prefix that is malformed, or not the expected one",
  /** Detection only: no form has this shape. */
  no_form: "the text is not recognized as an ID",
  /** Detection only: as an ID of the layout it would be from after tomorrow. */
  future: "an ID whose time is later than tomorrow, or that does not fit this layout",
} as const;

/** Why a text is malformed. */
export type TextFault = keyof typeof faults;

/** All of them. */
export const textFaults = Object.keys(faults) as readonly TextFault[];

/**
 * Makes the MALFORMED_TEXT error of a text. The text itself is not repeated: it may be huge, or a secret that was
 * pasted by mistake.
 *
 * @param position - Characters before the one at fault. All of them are ASCII, so bytes, UTF-16 units and code points
 * agree.
 */
export function malformedText(form: TextForm | undefined, reason: TextFault, position: number): IdError {
  const subject = form === undefined ? "The text" : `As ${form}, the text`;
  return new IdError("MALFORMED_TEXT", `${subject} is malformed at position ${position}: ${faults[reason]}.`, {
    metadata: { ...(form === undefined ? {} : { form }), reason, position },
  });
}
