/**
 * Periods of sequences that begin again each day, month or year of a time zone.
 *
 * A counter's key is the period itself, so uniqueness depends on no clock and on no data about time zones: they only
 * choose the period that a value is taken from. A clock that goes back goes on counting where that period stood.
 */
import { IdError } from "../errors.ts";

/** When a sequence begins at its start value again. */
export type Period = "none" | "day" | "month" | "year";

/** The period that a moment lies in. */
interface PeriodNow {
  /** `2026-11-22`, `2026-11` or `2026`; empty for the period `none`. */
  readonly key: string;
  /** Exclusive bound of the wall clock up to which nobody needs to ask again: Unix milliseconds. */
  readonly askAgainMs: number;
}

/** Tells the period of a moment, in Unix milliseconds. */
export type PeriodClock = (nowMs: number) => PeriodNow;

const always: PeriodNow = { key: "", askAgainMs: Number.POSITIVE_INFINITY };
const alwaysClock: PeriodClock = () => always;
const keyLengths = { day: 10, month: 7, year: 4 } as const;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Checks the zone of a sequence, and gives the name that Node has for it; the period `none` has no zone.
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

/** Makes the clock of a period in a zone that {@link checkTimeZone} gave. */
export function createPeriodClock(period: Period, timeZone: string): PeriodClock {
  if (period === "none") return alwaysClock;
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  // The Swedish order of a date is that of ISO 8601. The calendar is named, so that no default of the zone is used.
  const format = new Intl.DateTimeFormat("sv", { timeZone, calendar: "gregory", numberingSystem: "latn", ...parts });
  return (nowMs) => ({
    key: keyOfDay(period, format.format(nowMs)),
    // A date begins at a whole minute in every zone of today, so one look a minute finds it in time.
    askAgainMs: nowMs - (((nowMs % minuteMs) + minuteMs) % minuteMs) + minuteMs,
  });
}

/** The key of the period that a day, such as `2026-11-22`, lies in. */
export function keyOfDay(period: Exclude<Period, "none">, day: string): string {
  return day.slice(0, keyLengths[period]);
}

/** The latest moment at which a period begins anywhere, in Unix milliseconds: in the zone that is furthest behind. */
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

function invalidZone(message: string, timeZone: string): IdError {
  return new IdError("INVALID_SEQUENCE", message, { metadata: { field: "time_zone", time_zone: timeZone } });
}
