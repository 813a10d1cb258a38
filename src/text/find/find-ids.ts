import { plausibilityTest } from "../../snowflake/layout-guess.ts";
import { composeId, msToTicksDown } from "../../snowflake/layout.ts";
import type { PresetName } from "../../snowflake/presets.ts";
import type { TextCodec } from "../text-codec.ts";
import { blankEscapes } from "./blank-escapes.ts";
import { type DigitOptions, judgeDigits, unitBehind } from "./digit-rules.ts";
import type { Find, FoundTime } from "./find.ts";
import { isNanosecondNow, isUnixTime, readUnixTime } from "./found-time.ts";
import { literalSuffix, literalSuffixSource } from "./literal-suffix.ts";
import { looksLikeTable, readGrouped } from "./grouped-digits.ts";
import { contextOf, type TokenContext } from "./token-context.ts";
import { isSerial, readWord, type WordOptions } from "./word-rules.ts";

/** All that was found in a text. */
export interface FoundIds {
  /** In the order of the text; none overlap. */
  readonly finds: readonly Find[];
  readonly times: readonly FoundTime[];
  /** The text was read up to here: UTF-16 units. Less than its length where a limit was reached. */
  readonly readLength: number;
}

/** How to search. */
export interface FindOptions {
  /** Unix milliseconds: nothing that would be from more than a day later is found. */
  readonly nowMs: number;
  /** The forms of the server's or the chosen layout. */
  readonly codec: TextCodec;
  /** Finds at the most. Default: 10,000. */
  readonly limit?: number;
}

const findsMax = 10_000;
/** 2 MB of text; more is cut at the end of a line. */
const lengthMax = 2_000_000;
const tokenLengthMin = 10;
const tokenLengthMax = 100;
const sliceLength = 10_000;
const sliceFinds = 1_000;
/** N12: with this many others, a number counts as one of them. */
const neighboursMin = 5;

/** The tokens; the order of the alternatives is their precedence. */
const tokens = new RegExp(
  [
    "(?<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})",
    "(?<float>\\d[.,]\\d{1,17}[eE]\\+?\\d{1,3})",
    "(?<grouped>(?<!\\d)\\d{1,3}(?:(?<separator>[ ,.'’_\\u00a0\\u202f\\u2009])\\d{3})(?:\\k<separator>\\d{3}){3,6}" +
      `(?=${literalSuffixSource}?(?![A-Za-z0-9_])))`,
    `(?<digits>\\d+(?=${literalSuffixSource}?(?![A-Za-z0-9_])))`,
    "[A-Za-z0-9_]+",
  ].join("|"),
  "g",
);

/**
 * Finds every ID in any text, and the Unix times in it. Never throws; the work grows with the length of the text, and
 * no rule looks further than 200 characters from its token.
 *
 * It is made for people who paste: a program that reads an ID calls the strict reader of the codec instead.
 */
export function findIds(source: string, options: FindOptions): FoundIds {
  const search = findIdsInSlices(source, options);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
  }
}

/**
 * The same as {@link findIds}, with a pause after each 10,000 characters and after each 1,000 finds, so that a page can
 * draw meanwhile. It yields how far the text was read: UTF-16 units.
 */
export function findIdsInSlices(source: string, options: FindOptions): Generator<number, FoundIds> {
  const readLength = source.length <= lengthMax ? source.length : cutAtLine(source);
  const search = new Search(source.slice(0, readLength), options);
  return search.run();
}

function cutAtLine(source: string): number {
  const lineEnd = source.lastIndexOf("\n", lengthMax);
  return lineEnd < 0 ? lengthMax : lineEnd;
}

/** One search through one text. */
class Search {
  readonly #source: string;
  readonly #text: string;
  readonly #limit: number;
  readonly #words: WordOptions;
  readonly #digits: DigitOptions;
  readonly #finds: Find[] = [];
  readonly #times: FoundTime[] = [];
  /** Numbers that a rule refused and that may still be one of many. */
  readonly #refused: { readonly start: number; readonly end: number }[] = [];
  #isTable: boolean | undefined;

  constructor(source: string, { nowMs, codec, limit = findsMax }: FindOptions) {
    this.#source = source;
    this.#text = blankEscapes(source);
    this.#limit = limit;
    const isPlausible = plausibilityTest(nowMs, codec.layout.name);
    this.#words = { nowMs, codec, isPlausible };
    this.#digits = {
      isPlausible,
      nowMs,
      ownLength: ownLengthOf(codec, nowMs),
      negativeLineCount: source.match(/^[^\w\n]{0,12}-\d{17,19}\b/gm)?.length ?? 0,
    };
  }

  *run(): Generator<number, FoundIds> {
    let readLength = this.#source.length;
    let sliceEnd = sliceLength;
    for (const match of this.#text.matchAll(tokens)) {
      const [token] = match;
      if (match.index >= sliceEnd) {
        yield match.index;
        sliceEnd = match.index + sliceLength;
      }
      if (token.length < tokenLengthMin || token.length > tokenLengthMax) continue;
      if (match.groups?.["digits"] === undefined && !mayBeAnId(token)) continue;
      if (this.#finds.length >= this.#limit) {
        readLength = match.index;
        break;
      }
      this.#read(match);
    }
    this.#takeNeighbours();
    const finds = this.#finds.toSorted((one, other) => one.start - other.start);
    for (let at = 0; at < finds.length; at++) {
      if (at > 0 && at % sliceFinds === 0) yield readLength;
      finds[at] = this.#withMaker(finds[at]!);
    }
    return { finds, times: this.#times, readLength };
  }

  #read(match: RegExpMatchArray): void {
    const [token] = match;
    const { groups = {} } = match;
    const start = match.index!;
    const end = start + token.length;
    const context = contextOf(this.#text, start, end);
    if (groups["uuid"] !== undefined) this.#readUuid(token, start, context);
    else if (groups["float"] !== undefined) this.#readFloat(token, start, context);
    else if (groups["grouped"] !== undefined) {
      const separator = groups["separator"] ?? "";
      const find = readGrouped({ start, end, text: token, separator, context }, this.#text, {
        isPlausible: this.#words.isPlausible,
        isTable: () => (this.#isTable ??= looksLikeTable(this.#text)),
      });
      if (find !== undefined) this.#finds.push(find);
    } else if (groups["digits"] !== undefined) this.#readDigits(token, start, context);
    else this.#finds.push(...readWord({ start, end, word: token, context }, this.#words));
  }

  #readUuid(token: string, start: number, { before, after }: TokenContext): void {
    if (/[A-Za-z0-9_-]/.test(before) || /[A-Za-z0-9_-]/.test(after)) return;
    this.#finds.push({ start, end: start + token.length, kind: "uuid", strict: token.toLowerCase(), notes: [] });
  }

  /** Scientific notation with an exponent of 16 to 18 and four digits behind the point, as spreadsheets write it. */
  #readFloat(token: string, start: number, { before, after, isOther }: TokenContext): void {
    const [, fraction = "", exponent = ""] = /[.,](\d+)[eE]\+?(\d+)$/.exec(token) ?? [];
    if (/[A-Za-z0-9_.-]/.test(before) || /[A-Za-z0-9_]/.test(after) || isOther) return;
    if (Number(exponent) < 16 || Number(exponent) > 18 || fraction.length < 4) return;
    const end = start + token.length;
    const id = BigInt(Number(token.replace(",", ".")));
    if (!this.#words.isPlausible(id) || unitBehind.test(this.#text.slice(end, end + 12))) return;
    this.#finds.push({ start, end, kind: "float", strict: String(id), notes: ["rounded"] });
  }

  #readDigits(digits: string, start: number, context: TokenContext): void {
    const end = start + digits.length;
    if (isSerialAt(digits, this.#words)) {
      this.#finds.push({ start, end, kind: "serial", strict: digits, notes: [] });
      return;
    }
    const head = this.#text.slice(Math.max(0, start - 2), start);
    const isNegative = /(?:^|[^A-Za-z0-9_\])])-$/.test(head);
    const time = isNegative ? undefined : this.#readTime(digits, start, context);
    if (time !== undefined) {
      this.#times.push(time);
      if (time.unit === "ns" && !context.isAssigned) this.#refused.push({ start, end });
      return;
    }
    const tail = this.#text.slice(end, end + 40);
    const verdict = judgeDigits({ start, end, digits, context, head, tail, isNegative }, this.#digits);
    if (verdict.kind === "find") this.#finds.push(verdict.find);
    else if (verdict.mayBeOneOfMany && !literalSuffix.test(tail)) this.#refused.push({ start, end });
  }

  #readTime(digits: string, start: number, context: TokenContext): FoundTime | undefined {
    const time = readUnixTime(digits, this.#words.nowMs);
    if (time === undefined || "12345678901234567890".includes(digits)) return undefined;
    const end = start + digits.length;
    const fraction =
      time.unit === "s" ? (/^\.\d+(?![A-Za-z0-9_.])/.exec(this.#text.slice(end, end + 20))?.[0] ?? "") : "";
    if (fraction === "" && /^\.\d/.test(this.#text.slice(end, end + 2))) return undefined;
    const lineStart = Math.max(this.#text.lastIndexOf("\n", start - 1) + 1, start - 200);
    const whole = fraction === "" ? context : contextOf(this.#text, start, end + fraction.length);
    const isNow = isNanosecondNow(digits, time, this.#words.nowMs);
    if (!isNow && !isUnixTime(digits, time.unit, whole, this.#text.slice(lineStart, start))) return undefined;
    if (isNow && context.isId) return undefined;
    const fractionNs = BigInt(fraction.slice(1, 10).padEnd(9, "0"));
    return { start, end: end + fraction.length, unit: time.unit, unixNs: time.unixNs + fractionNs };
  }

  /** N12: a number among many of its length and first digits is one of them, whatever it looks like by itself. */
  #takeNeighbours(): void {
    const counts = new Map<string, number>();
    for (const { kind, strict = "" } of this.#finds)
      if (kind === "decimal") counts.set(keyOfNeighbours(strict), (counts.get(keyOfNeighbours(strict)) ?? 0) + 1);
    for (const { start, end } of this.#refused) {
      const strict = this.#source.slice(start, end);
      if ((counts.get(keyOfNeighbours(strict)) ?? 0) < neighboursMin) continue;
      const at = this.#times.findIndex((time) => time.start === start);
      if (at >= 0) this.#times.splice(at, 1);
      this.#finds.push({ start, end, kind: "decimal", strict, notes: [] });
    }
  }

  /** Adds the layout that the text before a decimal number names. */
  #withMaker(find: Find): Find {
    if (find.kind !== "decimal") return find;
    const maker = makerOf(this.#source.slice(Math.max(0, find.start - 80), find.start));
    return maker === undefined ? find : { ...find, maker };
  }
}

/** Lengths of the words that have a shape: base 58 and 62, base 32, hex, xid, ObjectId, ULID, KSUID, UUID. */
const wordLengths: ReadonlySet<number> = new Set([11, 13, 16, 20, 24, 26, 27, 32]);

/** Whether a token other than digits can be an ID at all: a quick look, because most words are not. */
function mayBeAnId(token: string): boolean {
  if (/[_.,' \u2019\u00a0\u202f\u2009-]|^0[xX]/.test(token)) return true;
  return /\d/.test(token) && (wordLengths.has(token.length) || /\d{20}$/.test(token));
}

/** Digits of an ID that the layout makes now. */
function ownLengthOf({ layout }: TextCodec, nowMs: number): number | undefined {
  const ticks = msToTicksDown(layout, nowMs);
  if (ticks < 0 || ticks > layout.timestamp.max) return undefined;
  return String(composeId(layout, { ticks, datacenterId: 0, workerId: 0, sequence: 0 })).length;
}

function isSerialAt(digits: string, options: WordOptions): boolean {
  return digits.length >= 20 && isSerial(digits, options);
}

function keyOfNeighbours(digits: string): string {
  return `${digits.length} ${digits.slice(0, 3)}`;
}

function makerOf(head: string): PresetName | undefined {
  const line = head.slice(head.lastIndexOf("\n") + 1);
  if (/<(?:@[!&]?|#|a?:\w+:)$|discord(?:app)?\.com\/\S*$|discord[^\n]{0,40}$/i.test(line)) return "discord";
  if (/(?:twitter|x)\.com\/\S*\/status(?:es)?\/$|twitter[^\n]{0,40}$|tweet[\w"']*\W{0,3}$/i.test(line))
    return "twitter";
  return /\/@[\w.-]+(?:@[\w.-]+)?\/$|mastodon[^\n]{0,40}$/i.test(line) ? "mastodon" : undefined;
}
