import { IdError } from "../errors.ts";
import { type Layout, ticksToMsDown } from "../snowflake/layout.ts";
import { readBase32, writeBase32 } from "./base32.ts";
import { readBase58, writeBase58 } from "./base58.ts";
import { readBase62, writeBase62 } from "./base62.ts";
import { readDecimal, writeDecimal } from "./decimal.ts";
import { detectForms } from "./detect-form.ts";
import { readHex, writeHex } from "./hex.ts";
import { createIdReader } from "./id-parts.ts";
import { malformedText } from "./malformed-text.ts";
import { createSerialCodec, type SerialCodec } from "./serial.ts";
import {
  checkTextForm,
  checkTextFormat,
  checkUtcOffset,
  type TextForm,
  type TextFormat,
  type TextOptions,
  textForms,
} from "./text-form.ts";
import { readTyped, writeTyped } from "./typed.ts";
import { describeUuid, readUuid, type UuidInfo } from "./uuid.ts";
import { createUuidCodec, type UuidCodec } from "./uuid-v7.ts";

/** The forms whose shape is so common that detection requires a plausible time as well. */
const tellsByTime: ReadonlySet<TextForm> = new Set(["base32", "base58", "base62"]);
const dayMs = 86_400_000;

/** The form, the ID and the UUID that a text was read as. */
export interface TextReading {
  /** The form that the text is in, with what it showed of its options: writing `id` so gives the canonical text. */
  readonly format: TextFormat;
  /** Absent for a UUID that holds no ID of this layout and namespace. */
  readonly id?: bigint;
  /** The parts of the UUID, if it is one. */
  readonly uuid?: UuidInfo;
}

/** How to read a text. */
export interface ReadOptions {
  /** The form; absent: it is detected. */
  readonly form?: TextForm | undefined;
  /** The offset from UTC at which a serial number was written. Default: 0. */
  readonly utcOffsetMinutes?: number | undefined;
  /** The prefix that a typed ID has to have; a text is then read as a typed ID alone. Default: any prefix. */
  readonly typePrefix?: string | undefined;
  /** Unix time in milliseconds: detection takes no text for an ID that would be from more than a day later. */
  readonly nowMs: number;
}

/** An ID in one form. */
export interface FormattedText {
  readonly format: TextFormat;
  readonly text: string;
}

/** The options of a text that its reader found. */
interface ExpectedOptions {
  /** Minutes east of UTC at which a serial number was written: -1,080 to 1,080. */
  readonly utcOffsetMinutes: number;
  /** Empty: any. */
  readonly typePrefix: string;
}

/** One text form, as a row of the table in {@link createForms}. */
interface FormCodec {
  readonly write: (id: bigint, options: TextOptions) => string;
  readonly read: (text: string, expected: ExpectedOptions) => Omit<TextReading, "format"> & TextOptions;
}

/** All text forms of the IDs of one layout and namespace. */
export interface TextCodec {
  readonly layout: Layout;
  readonly namespace: string;
  /**
   * Makes a function that writes IDs in one format, which is checked here, once.
   *
   * The function throws IdError MALFORMED_ID for a number that is not an ID, or, in the forms `serial` and `uuid`, not
   * an ID of the layout; INVALID_TEXT_FORMAT for a time that the form cannot represent (see serial.ts and uuid-v7.ts).
   *
   * @throws IdError INVALID_TEXT_FORMAT.
   */
  writer(format: TextFormat): (id: bigint) => string;
  /**
   * Reads a text. Strict: each ID has one text in a format, and no other text is read; exceptions are Crockford's
   * aliases and the capitals of UUIDs. The work is bounded whatever the text's length.
   *
   * @throws IdError MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
   */
  read(text: string, options: ReadOptions): TextReading;
  /**
   * Writes an ID in every form in which it has a text, in the order of {@link textForms}; as a typed ID only where the
   * options have a prefix.
   *
   * @throws IdError MALFORMED_ID, INVALID_TEXT_FORMAT (an option out of its range).
   */
  writeAll(id: bigint, options: TextOptions): readonly FormattedText[];
}

/**
 * Makes the text forms of a layout and namespace.
 *
 * @param context - `namespace` marks the UUIDs; nothing else depends on it.
 */
export function createTextCodec(context: { readonly layout: Layout; readonly namespace: string }): TextCodec {
  const { layout, namespace } = context;
  const ids = createIdReader(layout);
  const serial = createSerialCodec(layout);
  const forms = createForms(serial, createUuidCodec(layout, namespace));
  const readAs = (form: TextForm, text: string, expected: ExpectedOptions): TextReading => {
    const { id, uuid, ...options } = forms[form].read(text, expected);
    return {
      format: { form, ...options },
      ...(id === undefined ? {} : { id }),
      ...(uuid === undefined ? {} : { uuid }),
    };
  };

  const isFromBefore = (id: bigint | undefined, unixMs: number): boolean => {
    const parts = id === undefined ? undefined : ids.tryRead(id);
    return parts !== undefined && ticksToMsDown(layout, parts.ticks) < unixMs;
  };

  const detect = (text: string, expected: ExpectedOptions, nowMs: number): TextReading => {
    const candidates = detectForms(text, serial.digitCount);
    const readings: TextReading[] = [];
    let fault: unknown;
    for (const form of candidates) {
      try {
        const reading = readAs(form, text, expected);
        if (!tellsByTime.has(form) || isFromBefore(reading.id, nowMs + dayMs)) readings.push(reading);
      } catch (error) {
        fault = error;
      }
    }
    const [first, ...others] = readings;
    if (first === undefined) throw fault ?? malformedText(candidates.at(-1), "future", 0);
    if (others.length === 0) return first;
    const names = readings.map((reading) => reading.format.form).join(",");
    throw new IdError("AMBIGUOUS_TEXT", `The text can be read as ${names}: say which.`, {
      metadata: { candidates: names },
    });
  };

  return {
    layout,
    namespace,
    writer: (format) => {
      checkTextFormat(format);
      const { write } = forms[format.form];
      return (id) => write(id, format);
    },
    read: (text, { form: named, utcOffsetMinutes = 0, typePrefix = "", nowMs }) => {
      checkUtcOffset(utcOffsetMinutes);
      if (named !== undefined) checkTextForm(named);
      if (typePrefix !== "") checkTextFormat({ form: named ?? "typed", typePrefix });
      const form = named ?? (typePrefix === "" ? undefined : "typed");
      const expected = { utcOffsetMinutes, typePrefix };
      return form === undefined ? detect(text, expected, nowMs) : readAs(form, text, expected);
    },
    writeAll: (id, options) =>
      textForms.flatMap((form) => {
        const format = formatOf(form, options);
        if (form === "typed" && format.typePrefix === undefined) return [];
        checkTextFormat(format);
        try {
          return [{ format, text: forms[form].write(id, format) }];
        } catch (error) {
          if (error instanceof IdError && error.reason === "INVALID_TEXT_FORMAT") return [];
          throw error;
        }
      }),
  };
}

/** The table of forms. */
function createForms(serial: SerialCodec, uuids: UuidCodec): Readonly<Record<TextForm, FormCodec>> {
  return {
    decimal: plain(writeDecimal, readDecimal),
    hex: plain(writeHex, readHex),
    base32: { write: (id, { checkSymbol = false }) => writeBase32(id, checkSymbol), read: readBase32 },
    base58: plain(writeBase58, readBase58),
    base62: plain(writeBase62, readBase62),
    serial: {
      write: (id, { serialPrefix = "", utcOffsetMinutes = 0 }) => serial.write(id, serialPrefix, utcOffsetMinutes),
      read: (text, { utcOffsetMinutes }) => {
        const { id, prefix } = serial.read(text, utcOffsetMinutes);
        return { id, serialPrefix: prefix, utcOffsetMinutes };
      },
    },
    uuid: {
      write: (id) => uuids.write(id),
      read: (text) => {
        const bits = readUuid(text);
        const id = uuids.idOf(bits);
        return { uuid: describeUuid(bits), ...(id === undefined ? {} : { id }) };
      },
    },
    typed: {
      write: (id, { typePrefix = "" }) => writeTyped(id, typePrefix),
      read: (text, { typePrefix }) => {
        const { id, prefix } = readTyped(text, typePrefix);
        return { id, typePrefix: prefix };
      },
    },
  };
}

/** The options that a form has a use for, as its format. */
function formatOf(form: TextForm, options: TextOptions): TextFormat {
  const { serialPrefix = "", utcOffsetMinutes = 0, checkSymbol = false, typePrefix } = options;
  if (form === "serial") return { form, serialPrefix, utcOffsetMinutes };
  if (form === "typed") return { form, typePrefix };
  return form === "base32" ? { form, checkSymbol } : { form };
}

/** A form that has no options. */
function plain(write: (id: bigint) => string, read: (text: string) => bigint): FormCodec {
  return { write: (id) => write(id), read: (text) => ({ id: read(text) }) };
}
