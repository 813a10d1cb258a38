/** Times as the reader reads them: everything here is of the language, not of the layout. */

const dayMs = 86_400_000;

/**
 * Reads a time that was typed: `2026-01-31`, with a time of day behind a space or T, down to the nanosecond, in UTC or
 * with an offset such as `+03:00`, also as PostgreSQL (`+03`) and Go (` +0300 UTC`) write it. It rounds down to the
 * millisecond.
 *
 * @returns Unix milliseconds; undefined if it is not a time of the calendar.
 */
export function readTimeMs(text: string): number | undefined {
  const shape =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(?: ?(Z|UTC|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?))?(?: UTC)?$/i;
  const [, year, month, day, hour = "00", minute = "00", second = "00", part = "0", offset = "Z"] =
    shape.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${part.padEnd(3, "0").slice(0, 3)}Z`;
  const ms = Date.parse(iso);
  // Date takes the 31st of a month of 30 days for the 1st of the next.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== iso) return undefined;
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  return ms - Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** A time in words: `28 June 2022, 16:07:40.105`. Digits of the second as far as the tick shows them. */
export function timeWords(timeNs: bigint, tickNs: number, locale: string, timeZone = "UTC"): string {
  const ms = msOf(timeNs);
  const digits = tickNs >= 1e9 ? 0 : tickNs >= 1e8 ? 1 : tickNs >= 1e7 ? 2 : 3;
  const time = `${dayWords(ms, locale, timeZone)}, ${clockWords(ms, digits, timeZone)}`;
  if (tickNs >= 1e6) return time;
  const below = Number(((timeNs % 1_000_000n) + 1_000_000n) % 1_000_000n);
  return time + String(Math.floor(below / 1_000)).padStart(3, "0");
}

/** Unix milliseconds of Unix nanoseconds, rounded down. */
export function msOf(timeNs: bigint): number {
  const below = ((timeNs % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return Number((timeNs - below) / 1_000_000n);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format of dates. Each is made once: making one takes far longer than using it. */
function formatOf(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, format);
  return format;
}

let zone: string | undefined;

/** The reader's own time zone, such as `Africa/Nairobi`. */
export function ownZone(): string {
  zone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone;
}

/** The day in words: `28 June 2022`. */
export function dayWords(unixMs: number, locale: string, timeZone = "UTC"): string {
  return formatOf(locale, { dateStyle: "long", timeZone }).format(unixMs);
}

/** The time of day: `16:07:40.105`. */
export function clockWords(unixMs: number, digits: number, timeZone: string): string {
  const fraction = digits === 0 ? {} : { fractionalSecondDigits: digits as 1 | 2 | 3 };
  const parts = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
  return formatOf("en-GB", { ...parts, ...fraction, timeZone }).format(unixMs);
}

/** The day alone: `2022-06-28`. */
export function isoDay(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}

/** A span of time in its two largest units, for the texts. */
export interface Span {
  readonly large: { readonly unit: SpanUnit; readonly count: number };
  readonly small: { readonly unit: SpanUnit; readonly count: number } | undefined;
}

/** A unit of {@link Span}. */
export type SpanUnit = "year" | "day" | "hour" | "minute" | "second";

/** Takes a span apart: years by the calendar, days, hours, minutes, seconds. */
export function spanBetween(fromMs: number, toMs: number): Span {
  const [early, late] = fromMs < toMs ? [fromMs, toMs] : [toMs, fromMs];
  const start = new Date(early);
  let years = new Date(late).getUTCFullYear() - start.getUTCFullYear();
  const anniversary = (count: number): number => new Date(early).setUTCFullYear(start.getUTCFullYear() + count);
  if (anniversary(years) > late) years--;
  if (years > 0) return pair("year", years, "day", Math.floor((late - anniversary(years)) / dayMs));
  const span = late - early;
  if (span >= dayMs) return pair("day", Math.floor(span / dayMs), "hour", Math.floor((span % dayMs) / 3_600_000));
  const hours = Math.floor(span / 3_600_000);
  const minutes = Math.floor((span % 3_600_000) / 60_000);
  if (hours > 0) return pair("hour", hours, "minute", minutes);
  const seconds = Math.floor((span % 60_000) / 1_000);
  return minutes > 0 ? pair("minute", minutes, "second", seconds) : pair("second", seconds, "second", 0);
}

function pair(unit: SpanUnit, count: number, smallUnit: SpanUnit, smallCount: number): Span {
  const small = smallCount === 0 ? undefined : { unit: smallUnit, count: smallCount };
  return { large: { unit, count }, small };
}

/** A time for operators, in UTC: `2026-11-23 14:03:20`. */
export function utcTime(unixMs: number): string {
  return `${isoDay(unixMs)} ${clockWords(unixMs, 0, "UTC")}`;
}

/** The units of {@link shortSpan}. */
export type ShortUnit = "ms" | "s" | "min" | "h" | "d";

const shortUnits: readonly (readonly [unit: ShortUnit, ms: number, endMs: number])[] = [
  ["ms", 1, 1_000],
  ["s", 1_000, 90_000],
  ["min", 60_000, 5_400_000],
  ["h", 3_600_000, 129_600_000],
  ["d", dayMs, Number.POSITIVE_INFINITY],
];

/** A span in one unit, with one digit behind the point where it has one: `14.1 s`. */
export function shortSpan(spanMs: number, words: Readonly<Record<ShortUnit, string>>): string {
  const [unit, ms] = shortUnits.find(([, , endMs]) => spanMs < endMs)!;
  return `${Number((spanMs / ms).toFixed(unit === "ms" ? 0 : 1))} ${words[unit]}`;
}
