import { type Clock, systemClock } from "../src/clock.ts";

/** The clock of this machine, but that a test may set it forward. */
export class HastyClock implements Clock {
  aheadMs = 0;

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.aheadMs;
  }

  wallMs(): number {
    return systemClock.wallMs() + this.aheadMs;
  }

  schedule(...timer: Parameters<Clock["schedule"]>): () => void {
    return systemClock.schedule(...timer);
  }
}
