import { composeId, type FieldPlace, type Layout, msToTicksDown, ticksToMsDown } from "../../src/snowflake/layout.ts";
import { readWhole } from "./layout-choice.ts";
import { readTimeMs } from "./time-words.ts";

/** The most IDs that are made by hand at once. */
export const handCountMax = 1_000;

/** The fields of an ID that is made by hand, as they are typed. */
export interface HandParts {
  /** A date and time, in UTC where it names no offset; a Unix time; empty for now. */
  readonly time: string;
  /** A whole number; ignored where the layout has no such field. */
  readonly datacenterId: string;
  /** A whole number; ignored where the layout has no such field. */
  readonly workerId: string;
  /** Of the first ID, a whole number; ignored where the layout has no such field. */
  readonly sequence: string;
  /** How many IDs: 1 to 1,000. */
  readonly count: string;
}

/** Why a part that was typed cannot be used. */
export type PartProblem =
  | { readonly kind: "not-whole" | "range"; readonly min: number; readonly max: number }
  | { readonly kind: "unreadable-time" }
  | { readonly kind: "before-epoch" | "after-end"; readonly limit: string };

/** A time that was typed, and what it was read as: `s` to `ns` are Unix times. */
export interface TimeReading {
  readonly kind: "now" | "date" | "s" | "ms" | "us" | "ns";
  /** Unix milliseconds, rounded down. */
  readonly ms: number;
}

/** The IDs of parts that were typed, or the problem of each part that is wrong. */
export interface HandIds {
  /** Empty where there is a problem. */
  readonly ids: readonly bigint[];
  /** Undefined where the time cannot be read. */
  readonly time: TimeReading | undefined;
  readonly problems: Readonly<Partial<Record<keyof HandParts, PartProblem>>>;
}

/**
 * Makes IDs from parts that were typed. Further IDs take the next sequence numbers, then the next tick.
 *
 * Nothing keeps such IDs unique.
 */
export function makeHandIds(layout: Layout, parts: HandParts, nowMs: number): HandIds {
  const problems: Partial<Record<keyof HandParts, PartProblem>> = {};
  const read = (key: Exclude<keyof HandParts, "time">, min: number, max: number): number => {
    const value = readWhole(parts[key]);
    if (value === undefined) problems[key] = { kind: "not-whole", min, max };
    else if (value < min || value > max) problems[key] = { kind: "range", min, max };
    return value ?? min;
  };
  const part = (key: "datacenterId" | "workerId" | "sequence", place: FieldPlace): number =>
    place.bits === 0 ? 0 : read(key, 0, place.max);
  const datacenterId = part("datacenterId", layout.datacenter);
  const workerId = part("workerId", layout.worker);
  const sequence = part("sequence", layout.sequence);
  const count = read("count", 1, handCountMax);
  const time = readHandTime(parts.time, nowMs);
  const firstTick = readTick(layout, time);
  if (typeof firstTick !== "number") return { ids: [], time, problems: { ...problems, time: firstTick } };
  const perTick = layout.sequence.max + 1;
  const lastTick = firstTick + Math.floor((sequence + count - 1) / perTick);
  if (lastTick > layout.timestamp.max) problems.time = { kind: "after-end", limit: isoOf(layout.endMs) };
  if (Object.keys(problems).length > 0) return { ids: [], time, problems };
  const ids = Array.from({ length: count }, (_, index) => {
    const ticks = firstTick + Math.floor((sequence + index) / perTick);
    return composeId(layout, { ticks, datacenterId, workerId, sequence: (sequence + index) % perTick });
  });
  return { ids, time, problems };
}

function readTick(layout: Layout, time: TimeReading | undefined): number | PartProblem {
  if (time === undefined) return { kind: "unreadable-time" };
  const ticks = msToTicksDown(layout, time.ms);
  if (ticks < 0) return { kind: "before-epoch", limit: isoOf(ticksToMsDown(layout, 0)) };
  return ticks > layout.timestamp.max ? { kind: "after-end", limit: isoOf(layout.endMs) } : ticks;
}

/**
 * Reads a time as people type it. Nothing is now. A number is a Unix time: of 10 digits in seconds, of 16 in
 * microseconds, of 19 in nanoseconds, as those of our time have them, and otherwise in milliseconds.
 *
 * @returns undefined if it is not a time.
 */
function readHandTime(typed: string, nowMs: number): TimeReading | undefined {
  const text = typed.trim();
  if (text === "") return { kind: "now", ms: nowMs };
  const [, whole = "", part = ""] = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  const digits = whole.replaceAll(",", "");
  if (digits.length === 10) return { kind: "s", ms: Number(digits + part.padEnd(3, "0").slice(0, 3)) };
  if (digits.length === 16 || digits.length === 19) {
    return { kind: digits.length === 16 ? "us" : "ns", ms: Number(digits.slice(0, 13)) };
  }
  const unixMs = readWhole(text);
  if (unixMs !== undefined) return { kind: "ms", ms: unixMs };
  const ms = readTimeMs(text);
  return ms === undefined ? undefined : { kind: "date", ms };
}

/** Dates end with the year 9999 of four digits, where layouts end too. */
function isoOf(unixMs: number): string {
  return new Date(Math.min(unixMs, 253_402_300_799_999)).toISOString();
}
