import type { Clock, Timers } from "../clock/clock.ts";
import type { WorkerEvent } from "./worker-event.ts";

/** Everything outside of the process, apart from the store, that the protocol uses. A simulation supplies its own. */
export interface WorkerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** See systemUptimeMs in clock.ts. */
  readonly uptimeMs: () => number | undefined;
  /** Draws 128 bits from the kernel, as 32 hex digits. */
  readonly random128: () => string;
  /** From 0 inclusive to 1 exclusive; for choices and jitter, never for tokens. */
  readonly random: () => number;
  /** Called with each event of the worker, for the log and metrics. Must not throw. */
  readonly report: (event: WorkerEvent) => void;
}
