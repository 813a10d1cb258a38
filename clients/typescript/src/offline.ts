import { IdError } from "../../../src/errors.ts";
import { idRange as rangeOf, type IdRange } from "../../../src/snowflake/id-range.ts";
import { createLayout as layoutOf, type Layout, type LayoutSpec } from "../../../src/snowflake/layout.ts";
import { parseId as parse, type ParsedId } from "../../../src/snowflake/parse.ts";
import { presetLayout as preset } from "../../../src/snowflake/presets.ts";
import { PublicId as Permutation } from "../../../src/text/public-id.ts";
import { createTextCodec as codecOf, type TextReading } from "../../../src/text/text-codec.ts";
import type { TextForm, TextFormat } from "../../../src/text/text-form.ts";
import { offline } from "./errors.ts";
import { checkOptionKinds, kinds, type OptionKinds } from "./known-options.ts";
import { nanosecondsOf, wholeId } from "./whole-id.ts";

export type { IdRange, Layout, LayoutSpec, ParsedId, TextForm, TextFormat, TextReading };
export { presetNames, type PresetName } from "../../../src/snowflake/presets.ts";
export { textForms } from "../../../src/text/text-form.ts";

/** A moment: a Date, or Unix nanoseconds. */
export type Moment = Date | bigint;

/** How to read a text. */
export interface TextReadOptions {
  /** The form. Default: it is detected. */
  readonly form?: TextForm;
  /** The offset from UTC at which a serial number was written. Default: 0. */
  readonly utcOffsetMinutes?: number;
  /** The prefix that a typed ID must have; the text is then read only as a typed ID. Default: any prefix. */
  readonly typePrefix?: string;
  /**
   * The limit of detection, in Unix milliseconds: no text is taken for an ID that is from more than a day later.
   * Default: now.
   */
  readonly nowMs?: number;
}

const textReadOptionKinds: OptionKinds<TextReadOptions> = {
  form: kinds.checkedElsewhere,
  utcOffsetMinutes: kinds.checkedElsewhere,
  typePrefix: kinds.checkedElsewhere,
  nowMs: kinds.checkedElsewhere,
};

/** The text forms of the IDs of one layout and namespace. */
export interface TextCodec {
  /** @throws SnowlaneError MALFORMED_ID, INVALID_TEXT_FORMAT. */
  write(id: bigint, format: TextFormat): string;
  /**
   * Reads a text; a UUID that holds no ID of the layout and namespace reads as no ID.
   *
   * @throws SnowlaneError MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
   */
  read(text: string, options?: TextReadOptions): TextReading;
}

/**
 * Makes a custom layout.
 *
 * @throws SnowlaneError INVALID_LAYOUT.
 */
export function createLayout(spec: LayoutSpec): Layout {
  return offline(() => layoutOf(spec));
}

/**
 * Returns a built-in layout by its name, optionally with another epoch.
 *
 * @param epochMs - Unix milliseconds. Default: the preset's own.
 * @throws SnowlaneError INVALID_LAYOUT.
 */
export function presetLayout(name: string, epochMs?: number): Layout {
  return offline(() => preset(name, epochMs));
}

/**
 * Reads an ID: when and by which worker it was made. It cannot tell whether the ID was ever issued.
 *
 * @throws SnowlaneError MALFORMED_ID.
 */
export function parseId(layout: Layout, id: bigint): ParsedId {
  return offline(() => parse(layout, wholeId(id)));
}

/**
 * Returns the lowest and the highest ID that a time interval can hold, both inclusive, for range queries over stored
 * IDs.
 *
 * @param start - Inclusive.
 * @param end - Exclusive.
 * @throws SnowlaneError INVALID_TIME_RANGE, if no tick of the layout's life begins in it.
 */
export function idRange(layout: Layout, start: Moment, end: Moment): IdRange {
  return offline(() => rangeOf(layout, nanosecondsOf(start), nanosecondsOf(end)));
}

/** @param namespace - The deployment's; it marks the UUIDs, nothing else depends on it. */
export function createTextCodec(layout: Layout, namespace = "default"): TextCodec {
  const codec = codecOf({ layout, namespace });
  return {
    write: (id, format) => offline(() => codec.writer(format)(wholeId(id))),
    read: (text, options = {}) => {
      checkOptionKinds(options, textReadOptionKinds);
      return offline(() => codec.read(text, { nowMs: Date.now(), ...options }));
    },
  };
}

/**
 * Turns each ID into another number from 0 to 2^63 - 1, and back, under a key: for applications that must not show when
 * and at what rate they make IDs.
 *
 * Hides time, worker, sequence, order and rate from everyone without the key. Equal IDs stay equal. Every number can be
 * revealed as some ID, so a public ID is not a permission. Public IDs do not sort by time; a new key changes all of
 * them. docs/text-forms.md in the repository says more.
 */
export class PublicId {
  readonly #permutation: Permutation;

  /**
   * @param key - At least 16 bytes; 32 from a random source are best. Keep it for as long as public IDs must be
   *   readable.
   * @throws RangeError if it is shorter.
   */
  constructor(key: Uint8Array) {
    try {
      this.#permutation = new Permutation(key);
    } catch (error) {
      throw error instanceof IdError ? new RangeError(error.message) : error;
    }
  }

  /** The public ID of an ID. @throws SnowlaneError MALFORMED_ID. */
  hide(id: bigint): bigint {
    return offline(() => this.#permutation.hide(wholeId(id)));
  }

  /** The ID of a public ID; under another key, some other ID. @throws SnowlaneError MALFORMED_ID. */
  reveal(publicId: bigint): bigint {
    return offline(() => this.#permutation.reveal(wholeId(publicId)));
  }
}

/** Writes an ID for JSON and for people: decimal digits. A JSON number above 2^53 - 1 would lose some. */
export function idToString(id: bigint): string {
  return wholeId(id).toString();
}
