import { type Clock, systemClock } from "../src/clock.ts";

/** The clock of this machine, but that a test may set it forward. */
export class HastyClock implements Clock {
  aheadMs = 0;
  readonly schedule = systemClock.schedule;

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.aheadMs;
  }
}
