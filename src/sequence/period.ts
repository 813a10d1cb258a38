/**
 * Periods of sequences that begin again each day, month or year of a time zone.
 *
 * A counter's key is the period itself, so uniqueness depends on no clock and on no data about time zones: they only
 * choose the period that a value is taken from. After a clock goes back, counting continues where that period had
 * stopped. docs/adr/0203 explains why the key of some periods is a day.
 */
import { IdError } from "../errors.ts";

/**
 * When a sequence begins at its start value again. A year that does not begin in January, and its months, have names of
 * their own, so that a release that does not know such years refuses them.
 */
export type Period = "none" | "day" | "week" | "month" | "quarter" | "year" | "fiscal-month" | "fiscal-year";

/**
 * The rules by which a moment belongs to a period: the kind of period, the time zone, and the day on which years begin.
 */
export interface PeriodRules {
  readonly period: Period;
  /** As {@link checkTimeZone} gives it. */
  readonly timeZone: string;
  /** `MM-DD`, the day 01 to 28; empty = 1 January. */
  readonly yearStart: string;
}

/** The period that a moment lies in. */
interface PeriodNow {
  /**
   * `2026-11-22`, `2026-11` or `2026`; the first day of a week, a quarter, a fiscal year or a fiscal month; otherwise
   * empty.
   */
  readonly key: string;
  /** Until when, by the wall clock, the period certainly stays the same: Unix milliseconds, exclusive. */
  readonly askAgainMs: number;
}

/** Returns the period of a moment, which is in Unix milliseconds. */
export type PeriodClock = (nowMs: number) => PeriodNow;

const always: PeriodNow = { key: "", askAgainMs: Number.POSITIVE_INFINITY };
const alwaysClock: PeriodClock = () => always;
const keyLengths = { day: 10, month: 7, year: 4 } as const;
const dayMs = 86_400_000;
const yearStartPattern = /^(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Checks the zone of a sequence, and returns Node's name for it; the period `none` has no zone.
 *
 * @throws IdError INVALID_SEQUENCE; its metadata names the field.
 */
export function checkTimeZone(period: Period, timeZone: string): string {
  if (period === "none") {
    if (timeZone === "") return "";
    throw invalidZone("Only a sequence with a period has a time zone.", timeZone);
  }
  if (timeZone === "") return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    throw invalidZone(
      "The time zone is not an IANA name such as Europe/Berlin, nor an offset such as +03:00.",
      timeZone,
    );
  }
}

/**
 * Checks the day on which years begin, and returns it with the period, whose name differs if that day is not 1 January.
 *
 * @throws IdError INVALID_SEQUENCE; its metadata names the field.
 */
export function checkYearStart(period: Period, yearStart: string): Pick<PeriodRules, "period" | "yearStart"> {
  if (yearStart === "" || yearStart === "01-01") return { period, yearStart: "" };
  if (!yearStartPattern.test(yearStart)) {
    throw invalidYearStart("The year begins on a day such as 04-01: a month and a day from 01 to 28.", yearStart);
  }
  if (period === "year" || period === "fiscal-year") return { period: "fiscal-year", yearStart };
  if (period === "quarter") return { period, yearStart };
  if (period !== "month" && period !== "fiscal-month") {
    throw invalidYearStart("Only years, quarters and months have a day on which the year begins.", yearStart);
  }
  if (yearStart.endsWith("-01")) return { period: "fiscal-month", yearStart };
  throw invalidYearStart("A year of whole months begins on the first day of one.", yearStart);
}

/** Makes the clock of a period. */
export function createPeriodClock({ period, timeZone, yearStart }: PeriodRules): PeriodClock {
  if (period === "none") return alwaysClock;
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  // The Swedish date format is that of ISO 8601. The calendar is named, so that no default of the zone is used.
  const format = new Intl.DateTimeFormat("sv", { timeZone, calendar: "gregory", numberingSystem: "latn", ...parts });
  return (nowMs) => ({
    key: keyOfDay({ period, yearStart }, format.format(nowMs)),
    // In every present time zone a date begins at a whole minute, so it is enough to look once a minute.
    askAgainMs: nowMs - (((nowMs % minuteMs) + minuteMs) % minuteMs) + minuteMs,
  });
}

/**
 * The key of the period that a day, such as `2026-11-22`, lies in.
 *
 * Example: with years from `04-06` on, 2026-04-05 lies in the year `2025-04-06` and in the quarter `2026-01-06`.
 */
export function keyOfDay({ period, yearStart }: Pick<PeriodRules, "period" | "yearStart">, day: string): string {
  switch (period) {
    case "none":
      return "";
    case "day":
    case "month":
    case "year":
      return day.slice(0, keyLengths[period]);
    case "week":
      return mondayOf(day);
    case "fiscal-month":
      return `${day.slice(0, 7)}-01`;
    case "fiscal-year":
      return `${fiscalYearOf(day, yearStart)}-${yearStart}`;
    case "quarter":
      return quarterStart(day, yearStart || "01-01");
  }
}

/** The year in which the year of a day begins: 2025 for 2026-03-31 with years from `04-01` on. */
export function fiscalYearOf(day: string, yearStart: string): number {
  const year = Number(day.slice(0, 4));
  return day.slice(5) < (yearStart || "01-01") ? year - 1 : year;
}

/** The Monday of the week of a day. */
function mondayOf(day: string): string {
  const ms = Date.parse(`${day}T00:00:00Z`);
  // 1 January 1970 was a Thursday.
  const sinceMonday = (Math.floor(ms / dayMs) + 3) % 7;
  return isoDay(ms - ((sinceMonday + 7) % 7) * dayMs);
}

/** The latest of the four days on which quarters begin that is not after a day. */
function quarterStart(day: string, yearStart: string): string {
  const [startMonth, startDay] = [Number(yearStart.slice(0, 2)), yearStart.slice(3)];
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  const starts = [year - 1, year].flatMap((of) =>
    Array.from({ length: 12 }, (_, index) => index + 1)
      .filter((of12) => (of12 - startMonth + 12) % 3 === 0)
      .map((of12) => `${of}-${String(of12).padStart(2, "0")}-${startDay}`),
  );
  return starts.findLast((start) => start <= day) ?? `${year}-${String(month).padStart(2, "0")}-${startDay}`;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * The latest moment at which a period begins anywhere, in Unix milliseconds: which is in the zone that is furthest
 * behind.
 */
export function latestStartMs(periodKey: string): number {
  return earliestStartMs(periodKey) + (14 + 12) * hourMs;
}

/**
 * The earliest moment at which a period begins anywhere, in Unix milliseconds; UTC+14 is the zone that is furthest
 * ahead. 0 for the counter of no period.
 */
export function earliestStartMs(periodKey: string): number {
  if (periodKey === "") return 0;
  return Date.parse(`${periodKey}${"-01-01".slice(periodKey.length - 4)}T00:00:00Z`) - 14 * hourMs;
}

function invalidYearStart(message: string, yearStart: string): IdError {
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field: "year_start", year_start: yearStart } });
}

function invalidZone(message: string, timeZone: string): IdError {
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field: "time_zone", time_zone: timeZone } });
}
