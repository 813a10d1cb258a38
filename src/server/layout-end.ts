import type { Clock, Timers } from "../clock/clock.ts";
import { exhaustionOf } from "../snowflake/exhaustion.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { Log } from "./log.ts";

/** The layout whose end is watched, the clock that it is compared with, and the log that warns. */
export interface LayoutEndOptions {
  readonly layout: Layout;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

const dayMs = 86_400_000;

/**
 * Warns in the log, now and once a day, from five years before the layout's end on; after the end it is an error line.
 *
 * @returns A function that ends the watch.
 */
export function watchLayoutEnd({ layout, clock, timers, log }: LayoutEndOptions): () => void {
  let cancel: (() => void) | undefined;
  const look = (): void => {
    cancel = timers.after(dayMs, look);
    const { state, endTime, yearsLeft } = exhaustionOf(layout, clock.nowMs());
    const fields = { layout: layout.name, end: endTime, yearsLeft: Number(yearsLeft.toFixed(2)) };
    if (state === "warning") log.warn("The layout ends soon: plan a later epoch in a new namespace", fields);
    if (state === "exhausted") log.error("The layout has ended: no ID can be issued, only read", fields);
  };
  look();
  return () => cancel?.();
}
