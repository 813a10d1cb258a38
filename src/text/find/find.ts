import type { PresetName } from "../../snowflake/presets.ts";
import type { ForeignText } from "../foreign-text.ts";
import type { TextForm } from "../text-form.ts";

/**
 * How an ID that was found is written: one of our text forms, one of another generator's, or a decimal number in a
 * spelling that no form has.
 */
type FindKind =
  | TextForm
  | ForeignText["kind"]
  /** Digits in groups of three, with one and the same separator. */
  | "grouped"
  /** A number in scientific notation, or with `.0` behind it. */
  | "float"
  /** A negative number, or one from 2^63 to 2^64 - 1. */
  | "unsigned";

/** What a reader should know about a find. */
export type FindNote =
  /** A spreadsheet or a JSON parser rounded it: the time is right, the worker may be off, the sequence is lost. */
  | "rounded"
  /** Bit 63 is set, so that a signed number reads as negative: no layout here sets it. */
  | "negative"
  /** From 2^63 to 2^64 - 1: no layout here sets bit 63. */
  | "above-63-bits"
  /** Zeros were put before it. */
  | "padded";

/** An ID that was found in a text. */
export interface Find {
  /** UTF-16 units before its first character; suffixes, quotes and braces are left out. */
  readonly start: number;
  /** UTF-16 units before the one behind its last character. */
  readonly end: number;
  readonly kind: FindKind;
  /**
   * The text that strict reading takes for the same ID: digits without groups, a UUID with dashes. Absent for a number
   * that cannot be an ID (`unsigned`).
   */
  readonly strict?: string;
  /** The forms in which a text of 11 characters can be read, where there are two: base 58 and base 62. */
  readonly forms?: readonly TextForm[];
  /** The layout that the text before it names. */
  readonly maker?: PresetName;
  readonly notes: readonly FindNote[];
}

/** A Unix time that was found in a text. */
export interface FoundTime {
  readonly start: number;
  readonly end: number;
  readonly unit: "s" | "ms" | "us" | "ns";
  readonly unixNs: bigint;
}
