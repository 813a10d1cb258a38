import type { Clock, Timers } from "./clock.ts";

const periodMs = 500;
/** A beat that is later than this was not delayed by a busy event loop: the process, or the machine, was paused. */
const lateMaxMs = 1_000;

/** The calls of each beat. */
export interface HeartbeatTasks {
  readonly onBeat: () => void;
  /** Called before the beat that follows a pause: SIGSTOP, a frozen container, a debugger, a blocked event loop. */
  readonly onPause: (lengthMs: number) => void;
}

/** Beats twice a second, whatever the store does, and detects when this process was paused. */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #tasks: HeartbeatTasks;
  #cancel: (() => void) | undefined;
  #dueMs = 0;

  constructor(clock: Clock, timers: Timers, tasks: HeartbeatTasks) {
    this.#clock = clock;
    this.#timers = timers;
    this.#tasks = tasks;
  }

  start(): void {
    this.#dueMs = this.#clock.monotonicMs() + periodMs;
    this.#cancel = this.#timers.after(periodMs, () => this.#beat());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #beat(): void {
    const lateMs = this.#clock.monotonicMs() - this.#dueMs;
    this.start();
    if (lateMs > lateMaxMs) this.#tasks.onPause(lateMs);
    this.#tasks.onBeat();
  }
}
