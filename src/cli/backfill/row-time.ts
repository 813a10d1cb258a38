/** Reads the times of rows: RFC 3339 as databases write it, or a number of a unit. */
import { nsPerMs } from "../../snowflake/nanoseconds.ts";
import { type Layout, msToTicksDown } from "../../snowflake/layout.ts";
import { ZoneOffsets } from "./zone-offsets.ts";

/** How a time is written: `iso`, or a number of Unix seconds, milliseconds, microseconds or nanoseconds. */
export const timeUnits = ["iso", "s", "ms", "us", "ns"] as const;

/** One of {@link timeUnits}. */
export type TimeUnit = (typeof timeUnits)[number];

/** Digits of a unit below the second. */
const unitDigits: Readonly<Record<Exclude<TimeUnit, "iso">, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

const isoPattern = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,12}))? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;
const numberPattern = /^(-?)(\d{1,19})(?:\.(\d{1,12}))?$/;

/** Reads times one after another, without an object for each. */
export class RowTime {
  /** The last time that was read, in whole Unix milliseconds, rounded down. */
  unixMs = 0;
  /** The rest of that time, 0 to 999,999 nanoseconds. */
  belowMs = 0;
  readonly #unit: TimeUnit;
  readonly #zone: ZoneOffsets | undefined;
  #date = "";
  #dateMs = 0;

  /** @param timeZone - For times without an offset; absent = they are refused. */
  constructor(unit: TimeUnit, timeZone: string | undefined) {
    this.#unit = unit;
    this.#zone = timeZone === undefined ? undefined : new ZoneOffsets(timeZone);
  }

  /** @returns What is wrong with the text, or undefined. */
  read(text: string): string | undefined {
    return this.#unit === "iso" ? this.#readIso(text) : this.#readNumber(text, unitDigits[this.#unit]);
  }

  /** The tick of the last time, counted from the epoch. */
  tickIn(layout: Layout): number {
    const tick = msToTicksDown(layout, this.unixMs);
    return layout.tickNs >= nsPerMs ? tick : tick + Math.floor(this.belowMs / layout.tickNs);
  }

  #readIso(text: string): string | undefined {
    const match = isoPattern.exec(text);
    if (match === null) return this.#notIso(text);
    const [, date = "", hours = "", minutes = "", seconds = "", fraction = "", zone] = match;
    if (fraction.length > 9) return "has more than 9 digits of a second";
    if (date !== this.#date) {
      const ms = Date.parse(`${date}T00:00:00Z`);
      if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== date) return `has no such date, ${date}`;
      this.#date = date;
      this.#dateMs = ms;
    }
    if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) {
      return "has an hour above 23, or a minute or a second above 59 (leap seconds are not accepted)";
    }
    const localMs = this.#dateMs + Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1_000;
    const offsetMs = zone === undefined ? this.#zone?.offsetMs(localMs) : offsetOf(zone);
    if (offsetMs === undefined) {
      return zone === undefined
        ? "has no offset from UTC: give --time-zone, such as UTC"
        : `has no such offset, ${zone}`;
    }
    this.unixMs = localMs - offsetMs + Number(fraction.slice(0, 3).padEnd(3, "0"));
    this.belowMs = Number(fraction.slice(3).padEnd(6, "0"));
    return undefined;
  }

  #notIso(text: string): string {
    if (text === "") return "is empty";
    if (numberPattern.test(text)) return "is a number: give its unit with --unit s, ms, us or ns";
    return "is not a time such as 2020-01-01T08:00:00.123Z";
  }

  #readNumber(text: string, digits: number): string | undefined {
    const match = numberPattern.exec(text);
    if (match === null) return text === "" ? "is empty" : "is not a number";
    const [, sign, whole = "", fraction = ""] = match;
    const shown = fraction.padEnd(9 - digits, "0");
    if (shown.length > 9 - digits && /[1-9]/.test(shown.slice(9 - digits))) return "is finer than nanoseconds";
    const ns = `${whole}${shown.slice(0, 9 - digits)}`.padStart(7, "0");
    if (sign === "-") return "is before 1970";
    this.unixMs = Number(ns.slice(0, -6));
    this.belowMs = Number(ns.slice(-6));
    return Number.isSafeInteger(this.unixMs) && this.unixMs < 8.64e15 ? undefined : "is out of range: is --unit right?";
  }
}

function offsetOf(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 18 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
