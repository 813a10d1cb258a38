import { isOfCalendar, moment, type SettingBase } from "../../config/setting-kinds.ts";
import { type Setting, SettingError } from "../../config/setting.ts";
import type { SettingProblem } from "../../config/load-settings.ts";
import type { Resolved } from "../../config/resolved.ts";

const msPerMinute = 60_000;
const msPerDay = 86_400_000;
/** A hundred years: longer than any layout has been in use. */
const spanBackMaxMs = 36_525 * msPerDay;

/** A time as it was written, before the day's offset from UTC and the present are known. */
export type TimePoint =
  | { readonly kind: "instant"; readonly unixMs: number }
  /** The midnight at which a date begins; `unixMs` is that of UTC. */
  | { readonly kind: "date"; readonly unixMs: number }
  | { readonly kind: "day"; readonly word: DayWord }
  | { readonly kind: "now" };

type DayWord = "yesterday" | "today" | "tomorrow";
const daysFromToday: Readonly<Record<DayWord, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/** A setting that takes a date, or one of the words yesterday, today and tomorrow. */
export function day(base: SettingBase): Setting<TimePoint> {
  return { placeholder: "DATE", ...base, parse: parseDay, format: formatPoint };
}

/** A setting that takes a day, a time with its offset, or the word now. */
export function timePoint(base: SettingBase): Setting<TimePoint> {
  const instant = moment(base);
  return {
    placeholder: "TIME",
    ...base,
    parse: (value) => {
      if (value === "now") return { kind: "now" };
      if (value.includes("T")) return { kind: "instant", unixMs: instant.parse(value) };
      try {
        return parseDay(value);
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
        throw new SettingError(`${error.message}, now, or a time with its offset such as 2026-11-21T08:00:00Z`);
      }
    },
    format: formatPoint,
  };
}

/** A setting that takes a span of time back from now, in milliseconds: `90m`, `24h`, `7d`. */
export function spanBack(base: SettingBase): Setting<number> {
  const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: msPerMinute, h: 3_600_000, d: msPerDay };
  return {
    placeholder: "SPAN",
    ...base,
    parse: (value) => {
      const [, digits = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
      const ms = Number(digits) * (unitsMs[unit] ?? 0);
      if (ms === 0 || ms > spanBackMaxMs) {
        throw new SettingError("a number above 0 with s, m, h or d, such as 24h, up to 36525d");
      }
      return ms;
    },
    format: (ms) => `${ms / 1_000}s`,
  };
}

function parseDay(value: string): TimePoint {
  if (Object.hasOwn(daysFromToday, value)) return { kind: "day", word: value as DayWord };
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || !isOfCalendar(value)) {
    throw new SettingError("a date such as 2026-11-21, yesterday, today, tomorrow");
  }
  return { kind: "date", unixMs: Date.parse(value) };
}

function formatPoint(point: TimePoint): string {
  if (point.kind === "now") return "now";
  if (point.kind === "day") return point.word;
  const text = new Date(point.unixMs).toISOString();
  return point.kind === "date" ? text.slice(0, 10) : text;
}

/** An interval of time as its flags say it. */
export interface IntervalFlags {
  readonly last: number | undefined;
  readonly on: TimePoint | undefined;
  readonly from: TimePoint | undefined;
  readonly to: TimePoint | undefined;
  readonly utcOffsetMinutes: number | undefined;
}

/** Unix milliseconds, without the end. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** Makes the interval that the flags describe at `nowMs`; bad where they describe none, or more than one. */
export function resolveInterval(flags: IntervalFlags, nowMs: number): Resolved<Interval> {
  const { last, on, from, to, utcOffsetMinutes = 0 } = flags;
  const ways = [last, on, from ?? to].filter((way) => way !== undefined);
  const hint = "Give one of --last 24h, --on 2026-11-21, or --from with --to.";
  if (ways.length !== 1) return bad({ place: "The interval", hint });
  const at = (point: TimePoint): number => unixMsOf(point, nowMs, utcOffsetMinutes * msPerMinute);
  if (last !== undefined) return { kind: "good", value: { startMs: nowMs - last, endMs: nowMs } };
  if (on !== undefined) return { kind: "good", value: { startMs: at(on), endMs: at(on) + msPerDay } };
  if (from === undefined) return bad({ place: "--to", hint: "Give the start with it, such as --from 2026-11-21." });
  return { kind: "good", value: { startMs: at(from), endMs: at(to ?? { kind: "now" }) } };
}

function bad(problem: SettingProblem): Resolved<Interval> {
  return { kind: "bad", problems: [problem] };
}

/** The Unix milliseconds of a time that was written. */
export function unixMsOf(point: TimePoint, nowMs: number, offsetMs: number): number {
  if (point.kind === "now") return nowMs;
  if (point.kind === "instant") return point.unixMs;
  if (point.kind === "date") return point.unixMs - offsetMs;
  const today = Math.floor((nowMs + offsetMs) / msPerDay);
  return (today + daysFromToday[point.word]) * msPerDay - offsetMs;
}
