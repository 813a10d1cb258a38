import { IdError } from "../../errors.ts";
import { isPlausibleUnder } from "../../snowflake/layout-guess.ts";
import { decomposeId } from "../../snowflake/layout.ts";
import { type ForeignText, readForeignText } from "../foreign-text.ts";
import type { TextCodec, TextReading } from "../text-codec.ts";
import type { TextForm } from "../text-form.ts";
import { describeUuid, readUuid } from "../uuid.ts";
import type { Find } from "./find.ts";
import { literalSuffixSource } from "./literal-suffix.ts";
import { isKnownHex } from "./known-numbers.ts";
import type { TokenContext } from "./token-context.ts";

/** A word of letters, digits and underscores, and what is known of it. */
export interface WordToken {
  readonly start: number;
  readonly end: number;
  readonly word: string;
  readonly context: TokenContext;
}

/** The facts that the rules compare a token with. */
export interface WordOptions {
  /** Unix milliseconds: a time more than a day later is not likely. */
  readonly nowMs: number;
  /** Tells whether a number is an ID of the chosen layout with a likely time. */
  readonly isPlausible: (id: bigint) => boolean;
  /** Reads the text forms of the chosen layout. */
  readonly codec: TextCodec;
}

const dayMs = 86_400_000;
/** Hexadecimal numbers below this are addresses of memory. */
const hexMin = 10n ** 16n;
/** The first year in which a kind was in use, Unix milliseconds. A xid that is alone may be from 2010 on. */
const foreignFirstMs: Readonly<Record<ForeignText["kind"], number>> = {
  ulid: Date.UTC(2010, 0, 1),
  ksuid: Date.UTC(2014, 4, 14),
  objectid: Date.UTC(2009, 1, 1),
  xid: Date.UTC(2014, 0, 1),
  typeid: Date.UTC(2009, 0, 1),
};
const xidAloneFirstMs = Date.UTC(2010, 0, 1);
const distinctMin = 8;

/** Finds the ID that a word is, or that it holds. */
export function readWord(token: WordToken, options: WordOptions): readonly Find[] {
  const { word, context, start, end } = token;
  if (/^0[xX][0-9a-fA-F]+$/.test(word.replace(hexSuffix, ""))) return readPrefixedHex(token, options);
  if (/[./+=]/.test(context.before) && /[+=]/.test(context.after)) return [];
  if (/^[0-9a-fA-F]{16}$/.test(word)) return readBareHex(token, options);
  if (/^(?:[0-9a-f]{32}|[0-9A-F]{32})$/.test(word)) return readBareUuid(word, start, end, context, options);
  const foreign = readForeign(token, options);
  if (foreign !== undefined) return [foreign];
  const own = readOwnForm(token, options);
  return own === undefined ? readDigitsWithin(token, options) : [own];
}

const hexSuffix = new RegExp(`${literalSuffixSource}$`);

/** `0x` and 13 to 16 digits: an ID. `0x` and 32 digits: a UUID as MySQL writes it. */
function readPrefixedHex({ word, start, context }: WordToken, options: WordOptions): readonly Find[] {
  const body = word.replace(hexSuffix, "");
  const digits = body.slice(2);
  const end = start + body.length;
  if (digits.length === 32) return readBareUuid(digits, start, end, context, options);
  if (digits.length < 13 || digits.length > 16 || context.isOther || isKnownHex(digits)) return [];
  const id = BigInt(body);
  if (id < hexMin || !options.isPlausible(id)) return [];
  return [{ start, end, kind: "hex", strict: strictHex(id), notes: [] }];
}

function readBareHex({ word, start, end, context }: WordToken, { isPlausible }: WordOptions): readonly Find[] {
  const id = BigInt(`0x${word}`);
  const isLiteral = context.before === "'" && /^x$/i.test(context.key);
  const isMeant = /[a-f]/i.test(word) && (context.isAlone || context.isId || isLiteral) && !context.isOther;
  return isMeant && !isKnownHex(word) && isPlausible(id)
    ? [{ start, end, kind: "hex", strict: strictHex(id), notes: [] }]
    : [];
}

function strictHex(id: bigint): string {
  return `0x${id.toString(16).padStart(16, "0")}`;
}

/** 32 digits are a UUID by their key, or if they are of version 7 with a time from 2020 to tomorrow. */
function readBareUuid(
  digits: string,
  start: number,
  end: number,
  { key, isOther }: TokenContext,
  { nowMs }: WordOptions,
): readonly Find[] {
  const strict = digits.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const { version, variant, createTimeNs } = describeUuid(readUuid(strict));
  const createTimeMs = createTimeNs === undefined ? Number.NaN : Number(createTimeNs / 1_000_000n);
  const isDated = version === 7 && createTimeMs > Date.UTC(2020, 0, 1) && createTimeMs < nowMs + dayMs;
  const isNamed = /(?:uuid|guid|unhex)$/i.test(key);
  const isBinary = end - start === 34 && variant === "rfc9562" && version >= 1 && version <= 8;
  const isMeant = isNamed || isDated || isBinary;
  return isMeant && !isOther ? [{ start, end, kind: "uuid", strict, notes: [] }] : [];
}

/** A ULID, KSUID, ObjectId, xid or TypeID: its shape, letters and digits that vary, and a time in its years. */
function readForeign({ word, start, end, context }: WordToken, { nowMs }: WordOptions): Find | undefined {
  const isUpperObjectId = /^[0-9A-F]{24}$/.test(word) && context.isAlone;
  const strict = isUpperObjectId ? word.toLowerCase() : word;
  const foreign = readForeignText(strict);
  if (foreign === undefined || context.isOther || !isVaried(foreign.kind, strict)) return undefined;
  const { kind, createTimeNs } = foreign;
  const createTimeMs = createTimeNs === undefined ? undefined : Number(createTimeNs / 1_000_000n);
  if (createTimeMs === undefined ? kind !== "typeid" : createTimeMs >= nowMs + dayMs) return undefined;
  const firstMs = kind === "xid" && context.isAlone ? xidAloneFirstMs : foreignFirstMs[kind];
  if (createTimeMs !== undefined && createTimeMs < firstMs) return undefined;
  if (kind === "typeid" && !isTypeIdUuid(foreign.parts["uuid"] ?? "")) return undefined;
  return { start, end, kind, strict, notes: [] };
}

/** A letter and a digit after the first character, and eight different characters: neither a word nor a constant. */
function isVaried(kind: ForeignText["kind"], text: string): boolean {
  const rest = kind === "typeid" ? text.slice(text.lastIndexOf("_") + 2) : text.slice(1);
  if (!/[0-9]/.test(rest) || !/[A-Za-z]/.test(text)) return false;
  if (kind === "ulid" && /[a-z]/.test(text) && /[A-Z]/.test(text)) return false;
  if (kind === "ksuid" && !(/[a-z]/.test(text) && /[A-Z]/.test(text))) return false;
  return new Set(text.toLowerCase()).size >= distinctMin;
}

/** The version and the variant of RFC 9562. */
function isTypeIdUuid(uuid: string): boolean {
  const { version, variant } = describeUuid(readUuid(uuid));
  return variant === "rfc9562" && version >= 1 && version <= 8;
}

/** A typed ID or serial number anywhere; base 32, 58 and 62, which have no mark of their own, only alone. */
function readOwnForm(token: WordToken, options: WordOptions): Find | undefined {
  const { word, start, end, context } = token;
  const typed = /^[a-z][a-z0-9]{0,15}_([1-9A-HJ-NP-Za-km-z]{11})$/.exec(word)?.[1];
  if (typed !== undefined) {
    const isMixed = /\d/.test(typed) && /[a-z]/.test(typed) && /[A-Z]/.test(typed);
    const id = isMixed ? tryRead(options, word, "typed")?.id : undefined;
    return id !== undefined && id >= hexMin && options.isPlausible(id)
      ? { start, end, kind: "typed", strict: word, notes: [] }
      : undefined;
  }
  if (isSerial(word, options)) return { start, end, kind: "serial", strict: word, notes: [] };
  if (!context.isAlone || !/[0-9]/.test(word.slice(1)) || !/[A-Za-z]/.test(word)) return undefined;
  const readings = shortForms(word).flatMap((form) => {
    const sequence = sequenceUnderOwnLayout(options, word, form);
    return sequence === undefined ? [] : [{ form, sequence }];
  });
  // Of two readings the one with the lower sequence number comes first: real ones are mostly low.
  const forms = readings.toSorted((one, other) => one.sequence - other.sequence).map(({ form }) => form);
  const [kind] = forms;
  if (kind === undefined) return undefined;
  return { start, end, kind, strict: word, notes: [], ...(forms.length > 1 ? { forms } : {}) };
}

function shortForms(word: string): readonly TextForm[] {
  if (/^[0-9A-HJKMNP-TV-Z]{13}$/.test(word)) return ["base32"];
  return word.length === 11 && /[a-z]/.test(word) && /[A-Z]/.test(word) ? ["base58", "base62"] : [];
}

/** N5: 0 to 16 capitals and digits, then the digits of a serial number, with a date from 2010 to next year. */
export function isSerial(word: string, options: WordOptions): boolean {
  const { nowMs } = options;
  const id = /^[A-Z0-9]*\d{20}$/.test(word) ? tryRead(options, word, "serial")?.id : undefined;
  if (id === undefined) return false;
  const year = Number(/\d{4}/.exec(word.slice(-serialLength(options)))?.[0]);
  return year >= 2010 && year <= new Date(nowMs).getUTCFullYear() + 1;
}

const serialLengths = new WeakMap<TextCodec, number>();

/** Digits of a serial number of the layout. */
function serialLength({ codec }: WordOptions): number {
  const length = serialLengths.get(codec) ?? codec.writer({ form: "serial" })(0n).length;
  serialLengths.set(codec, length);
  return length;
}

/** The sequence number of a text that reads as an ID of the chosen layout from before tomorrow; otherwise undefined. */
function sequenceUnderOwnLayout(options: WordOptions, word: string, form: TextForm): number | undefined {
  const { layout } = options.codec;
  const id = tryRead(options, word, form)?.id;
  return id !== undefined && isPlausibleUnder(layout, id, options.nowMs) ? decomposeId(layout, id).sequence : undefined;
}

/** The result of strict reading; undefined where it refuses. */
function tryRead(
  { codec, nowMs }: Pick<WordOptions, "codec" | "nowMs">,
  word: string,
  form: TextForm,
): TextReading | undefined {
  try {
    return codec.read(word, { form, nowMs });
  } catch (error) {
    if (error instanceof IdError) return undefined;
    throw error;
  }
}

/** Digits between underscores: `order_1541815603606036480`, `1541815603606036480_12`. */
function readDigitsWithin({ word, start, context }: WordToken, { isPlausible }: WordOptions): readonly Find[] {
  if (context.isOther || !word.includes("_")) return [];
  const finds: Find[] = [];
  for (const match of word.matchAll(/(?<=^|_)[1-9]\d{16,18}(?=_|$)/g)) {
    const [strict] = match;
    const at = start + match.index;
    if (isPlausible(BigInt(strict)))
      finds.push({ start: at, end: at + strict.length, kind: "decimal", strict, notes: [] });
  }
  return finds;
}
