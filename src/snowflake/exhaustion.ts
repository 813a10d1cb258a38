import type { Layout } from "./layout.ts";

/**
 * Below this number of years an operator is warned: it takes that long to change a layout that every stored ID depends
 * on.
 */
export const yearsLeftWarning = 5;

/** 9999-12-31T23:59:59.999Z. */
const calendarLastMs = 253_402_300_799_999;

const yearMs = 365.25 * 86_400_000;

/** How long a layout still lasts. */
export interface Exhaustion {
  /** First Unix millisecond that no ID can carry. */
  readonly endMs: number;
  /**
   * `endMs` in RFC 3339, whose times end with the year 9999: a later end is shown as the last millisecond of that year.
   */
  readonly endTime: string;
  /** Years of 365.25 days from now to the end; negative after it. */
  readonly yearsLeft: number;
  /**
   * `warning` below {@link yearsLeftWarning} years, `exhausted` from the end on: nothing can be issued any more, but
   * IDs can still be read.
   */
  readonly state: "fine" | "warning" | "exhausted";
}

/** How long a layout still lasts at `nowMs`, Unix milliseconds. */
export function exhaustionOf(layout: Layout, nowMs: number): Exhaustion {
  const yearsLeft = (layout.endMs - nowMs) / yearMs;
  const state = yearsLeft <= 0 ? "exhausted" : yearsLeft < yearsLeftWarning ? "warning" : "fine";
  const endTime = new Date(Math.min(layout.endMs, calendarLastMs)).toISOString();
  return { endMs: layout.endMs, endTime, yearsLeft, state };
}
